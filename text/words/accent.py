"""Foreign phonemes in the sounds of another language, as its speakers say foreign words."""

from __future__ import annotations

import unicodedata


def _table(listed: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in listed.split())


_BOTH = _table(
    "r=ɹ ʁ=ɹ ʀ=ɹ ɽ=ɹ ɣ=ɡ c=k ɟ=ɡ q=k χ=h x=h ħ=h ɦ=h ç=h ʂ=ʃ ɕ=ʃ ʐ=ʒ ʑ=ʒ β=b ɸ=f ʋ=v ɱ=m ɲ=nj ɴ=ŋ ɭ=l ɫ=l ɬ=l ɳ=n "
    "ʈ=t ɖ=d ʎ=lj ʝ=j ɥ=w ʣ=dz ʦ=ts ʥ=ʤ ʨ=ʧ ø=ɜ œ=ɜ y=u ɯ=u ʉ=u ɤ=ə ɵ=ə ɘ=ə ɐ=ə ɨ=ɪ o=ɔ e=ɛ g=ɡ"
)
NEAREST = {
    "en-us": _BOTH | _table("a=ɑ ɒ=ɑ ɚ=əɹ ɝ=ɜɹ Q=O"),
    "en-gb": _BOTH | _table("ɚ=ə ɝ=ɜː ᵻ=ɪ T=t ɾ=t O=Q"),
}
"""Replacements of single phonemes by language, used after misaki's own map from espeak-ng's alphabet."""


_MARKS = frozenset("ˈˌ,.;:!?…—“”() ")
SOUNDS = {
    "es": frozenset("AIWYabdefijklmnoprstuwxðŋɛɣɡɪɲɾʊʎʝʧβθ"),
    "fr-fr": frozenset("abdefijklmnopstuvwyzøœɑɔəɛɡɥɲʁʃʒ\u0303"),
    "it": frozenset("Sabdefijklmnoprstuvwzŋɔɛɡɪɲɾʃʊʎʣʤʦʧː"),
    "pt-br": frozenset("AIWYabdefijklmnoprstuvwxyzæŋɐɔəɛɡɪɲɾʃʊʎʒʤʧː\u0303"),
    "hi": frozenset("abcdefhijklmnoprstuzŋɑɒɔɖəɛɟɡɪɳɾʂʃʈʊʋʌʰː\u0303"),
}
"""Phonemes that espeak-ng's voices of each language use, in misaki's alphabet."""

_LIKE = {
    "A": "eɪ ei e", "I": "aɪ ai", "W": "aʊ au", "O": "oʊ ou o", "Q": "oʊ ou o", "Y": "ɔɪ oi", "ᵊ": "ə", "ᵻ": "ɪ i",
    "T": "ɾ t", "S": "s", "ʣ": "dz", "ʦ": "ts", "ʤ": "dʒ ʝ ɟ", "ʧ": "tʃ c", "ʨ": "ʧ tʃ c", "ʥ": "ʤ dʒ ʝ ɟ",
    "a": "ɑ ɐ", "ɑ": "a", "ɒ": "ɔ o", "æ": "a ɛ", "ɐ": "a ə", "ʌ": "a ɐ", "ɔ": "o", "o": "ɔ", "ɛ": "e", "e": "ɛ",
    "ə": "e ɐ", "ɚ": "əɹ eɾ eʁ", "ɜ": "œ ɛ e", "ɪ": "i", "i": "ɪ", "ʊ": "u", "u": "ʊ", "ɨ": "ɪ i", "ɯ": "u",
    "y": "i u", "ø": "œ e", "œ": "ø ɛ e", "ɤ": "o",
    "b": "p", "v": "b ʋ", "β": "b", "ʋ": "v", "w": "u ʊ ʋ", "ɥ": "w ɪ i", "f": "p", "ɸ": "f", "θ": "s t", "ð": "d",
    "z": "s", "s": "z", "ʃ": "ʂ ʧ s", "ʒ": "ʝ ʤ z ʃ", "ʂ": "ʃ s", "ʐ": "ʒ z", "ɕ": "ʃ ʂ s", "ʑ": "ʒ z", "ç": "ʃ x j",
    "ɹ": "ɾ r ʁ", "r": "ɾ ʁ ɹ", "ɾ": "r ʁ ɹ", "ʁ": "ɹ r ɾ", "ʀ": "ʁ r", "ɻ": "ɾ r ʁ", "ɽ": "ɾ r", "h": "x", "x": "h k",
    "χ": "x k", "ħ": "h x k", "ɦ": "h x", "ɣ": "ɡ", "ʔ": "", "ŋ": "n", "ɲ": "nj ni", "ɳ": "n", "ɴ": "ŋ n", "ʎ": "lj li",
    "ʝ": "j ʒ", "j": "i", "ɟ": "ɡ", "c": "k", "q": "k", "ɡ": "k", "ʈ": "t", "ɖ": "d", "ɭ": "l", "ɫ": "l", "ʰ": "",
    "p": "b", "k": "ɡ", "\u0303": "n",
}  # fmt: skip
"""Alternatives for each phoneme, the most similar first; the first one that the language has is used."""


def adapted(phonemes: str, language: str) -> str:
    """Phonemes in a language's own sounds; unchanged for languages whose voices know all sounds (ja, cmn).

    Args:
        language: the language of the voice that will say them.
    """
    if language in NEAREST:
        nearest = NEAREST[language]
        return "".join(nearest.get(phoneme, phoneme) for phoneme in _spelled(phonemes) if phoneme != "\u0303")
    sounds = SOUNDS.get(language)
    if sounds is None:
        return phonemes
    return "".join(_nearest(phoneme, sounds) for phoneme in _spelled(phonemes))


def _spelled(phonemes: str) -> str:
    return unicodedata.normalize("NFD", phonemes).replace("c\u0327", "ç")


def _nearest(phoneme: str, sounds: frozenset[str], depth: int = 2) -> str:
    """The phoneme, or the first of its alternatives that the language has or, failing that, can approach itself."""
    if phoneme in sounds or phoneme in _MARKS:
        return phoneme
    likes = _LIKE.get(phoneme, "").split(" ")
    for like in likes:
        if like and all(part in sounds for part in like):
            return like
    if depth and likes[0]:
        return "".join(_nearest(part, sounds, depth - 1) for part in likes[0])
    return ""
