"""Conversion of IPA, as people and dictionaries write it, into misaki's alphabet, which is the model's."""

from __future__ import annotations

import re
import unicodedata

from text.espeak import misaki

ALPHABET = frozenset(
    "AIOQSTWYabcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝʣʤʥʦʧʨʰʲˈˌː\u0303βθχᵊᵝᵻ→↓↗↘ꭧ"
)
"""All sounds and accents that Kokoro v1.0 knows (`config.json` of its release); each language uses some of them."""

_VOWELS = "aeiouyæœøɐɑɒɔəɚɛɜɝɞɘɤɪɨɯʉʊʌɶɵᵻᵊAIOWYQ"
_LATE_STRESS = re.compile(rf"([ˈˌ])([^{_VOWELS}\sˈˌ]+)(?=[{_VOWELS}])")
"""Stress mark before consonants, to be moved: dictionaries mark a stressed syllable before its first consonant,
espeak-ng and misaki before its vowel.
"""

_ASCII = str.maketrans({"'": "ˈ", "’": "ˈ", ":": "ː", "g": "ɡ", "^": "", ".": "", "‿": "", "͜": "͡", "ʍ": "w"})
_TIE = "͡"
_JOINED = ("aɪ", "aʊ", "eɪ", "oʊ", "əʊ", "ɔɪ", "tʃ", "dʒ", "ts", "dz")
"""Sounds of two letters, written with or without a tie; misaki's map of espeak-ng's alphabet expects them tied with ^.
"""

_ENGLISH = {
    "en-us": (("ə^ʊ", "o^ʊ"), ("ɛə", "ɛ"), ("eə", "ɛ"), ("t^s", "ts"), ("d^z", "dz"), ("e^ɪ", "A"), ("e", "ɛ")),
    "en-gb": (("o^ʊ", "ə^ʊ"), ("ɛə", "ɛː"), ("eə", "ɛː"), ("t^s", "ts"), ("d^z", "dz"), ("e^ɪ", "A"), ("e", "ɛ")),
}
"""Replacements that turn dictionaries' IPA into espeak-ng's. Dictionaries' e is the vowel of "bed"; in espeak-ng's
alphabet, and so in misaki's map, e is the first half of the vowel of "day".
"""


class UnknownSymbols(ValueError):
    """Error for IPA with symbols that the language's voices have no sound for, or without any sound."""

    def __init__(self, ipa: str, symbols: str) -> None:
        self.symbols = symbols
        shown = ", ".join(f"{symbol!r} (U+{ord(symbol):04X})" for symbol in symbols[:8])
        what = f"has symbols that can't be spoken: {shown}" if symbols else "has no sound in it"
        super().__init__(f"the pronunciation {ipa[:80]!r} {what}.")


def from_ipa(ipa: str, language: str) -> str:
    """Phonemes of misaki's alphabet for IPA. Symbols that are in misaki's alphabet already stay unchanged.

    In English, a sound that the language lacks becomes its nearest one. Marks that only shade a sound are left out.

    Args:
        ipa: IPA in slashes, square brackets, or neither. Ties and syllable dots are optional.

    Raises:
        UnknownSymbols: a letter has no counterpart, or no symbol sounds.
    """
    text = unicodedata.normalize("NFC", ipa.strip().strip("/[]")).translate(_ASCII)
    for joined in _JOINED:
        text = text.replace(joined[0] + _TIE + joined[1], joined).replace(joined, f"{joined[0]}^{joined[1]}")
    text = text.replace(_TIE, "^")
    for written, espeak in _ENGLISH.get(language, ()):
        text = text.replace(written, espeak)
    phonemes = misaki.from_espeak(text, language)
    alphabet = misaki.alphabet(language) if language in misaki.ENGLISH else ALPHABET
    nearest = NEAREST.get(language, {})
    known: list[str] = []
    unknown: dict[str, None] = {}
    for symbol in phonemes:
        for part in symbol if symbol in alphabet else unicodedata.normalize("NFD", symbol):
            if part in alphabet or part == " ":
                known.append(part)
            elif part in nearest:
                known.append(nearest[part])
            elif unicodedata.category(part) not in ("Mn", "Lm"):
                unknown[part] = None
    found = " ".join("".join(known).split())
    if unknown or not any(character.isalpha() and unicodedata.category(character) != "Lm" for character in found):
        raise UnknownSymbols(ipa, "".join(unknown))
    return _LATE_STRESS.sub(r"\2\1", found)


def ipa_of_xsampa(written: str) -> str:
    """IPA for X-SAMPA (https://www.phon.ucl.ac.uk/home/sampa/x-sampa.htm); other symbols stay, small letters too.

    >>> ipa_of_xsampa('pI"kA:n')
    'pɪˈkɑːn'
    """
    return _XSAMPA.sub(lambda symbol: _SAMPA[symbol[0]], written)


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


_SAMPA = _table(
    "A=ɑ {=æ 6=ɐ Q=ɒ E=ɛ @=ə 3=ɜ I=ɪ O=ɔ 2=ø 9=œ &=ɶ U=ʊ }=ʉ V=ʌ Y=ʏ 1=ɨ 7=ɤ 8=ɵ M=ɯ @`=ɚ 3`=ɝ B=β C=ç D=ð F=ɱ G=ɣ "
    "H=ɥ J=ɲ K=ɬ L=ʎ N=ŋ P=ʋ R=ʁ S=ʃ T=θ W=ʍ X=χ Z=ʒ 4=ɾ 5=ɫ ?=ʔ r\\=ɹ r`=ɽ r\\`=ɻ h\\=ɦ s\\=ɕ z\\=ʑ j\\=ʝ J\\=ɟ p\\=ɸ "
    'R\\=ʀ l`=ɭ n`=ɳ d`=ɖ t`=ʈ s`=ʂ z`=ʐ x\\=ɧ "=ˈ %=ˌ :=ː ~=\u0303 _~=\u0303 _h=ʰ'
) | {"=": "\u0329", "_": "͡", "-": ""}
_XSAMPA = re.compile("|".join(map(re.escape, sorted(_SAMPA, key=len, reverse=True))))

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
    "b": "p", "v": "ʋ b", "β": "b", "ʋ": "v", "w": "ʋ u ʊ", "ɥ": "w ɪ i", "f": "p", "ɸ": "f", "θ": "tʰ s t", "ð": "d",
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
