"""Conversion of IPA, as people and dictionaries write it, into misaki's alphabet, which is the model's."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from text.espeak.misaki_import import misaki_en, misaki_espeak
from text.words.accent import NEAREST

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


class _Echo:
    """Backend with phonemizer's interface for misaki that returns its texts, which are phonemes already."""

    def phonemize(self, texts: list[str]) -> list[str]:
        return texts


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
    phonemes = _to_english(text, language) if language in _ENGLISH else misakis_alphabet(text, language)
    alphabet = _alphabet(language)
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


def _to_english(text: str, language: str) -> str:
    from misaki.token import MToken

    for written, espeak in _ENGLISH[language]:
        text = text.replace(written, espeak)
    found: str = _misaki(language)(MToken(text=text, tag="", whitespace=""))[0]
    return found


def misakis_alphabet(ipa: str, language: str) -> str:
    """Phonemes of misaki's alphabet for espeak-ng's IPA (tied with `espeak.TIE`), by misaki's own language map."""
    if language in _ENGLISH:
        return _to_english(ipa, language)
    found: str = _misaki(language)(ipa)[0]
    return found


@lru_cache
def _misaki(language: str) -> Any:
    """misaki's map from espeak-ng's alphabet to its own, which runs without espeak-ng."""
    espeak = misaki_espeak()
    mapper = espeak.EspeakFallback(british=language == "en-gb") if language in _ENGLISH else espeak.EspeakG2P(language)
    mapper.backend = _Echo()
    return mapper


@lru_cache
def _alphabet(language: str) -> frozenset[str]:
    if language not in _ENGLISH:
        return ALPHABET
    en = misaki_en()
    return frozenset(en.GB_VOCAB if language == "en-gb" else en.US_VOCAB | {"T"})
