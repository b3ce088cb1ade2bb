"""Pronunciation of English words that misaki's lexicon lacks: espeak-ng, then the names of their letters."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from shm.espeak.messages import LANGUAGE_FILES
from text.espeak import espeak, misaki
from text.espeak.ipa import NEAREST

ESPEAK_RATING = 2
LETTERS_RATING = 1
NOTHING_RATING = 0
"""Ratings by misaki's scale of trust: its lexicon gives 3 and more, its espeak fallback 2."""

_SCRIPT_VOICES = {
    "CJK": "cmn",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CYRILLIC": "ru",
    "GREEK": "el",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "THAI": "th",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
}
"""espeak-ng's voice by the first word of a letter's Unicode name. Its English voice only spells letters of other
scripts.
"""

_NAMED_LETTER = re.compile(r" (?:LETTER|DIGIT) (?:[A-Z]+ )*([A-Z]+)$")


_KNOWN_TO_ESPEAK = re.compile(r"[a-zà-öø-ÿ'’-]{2,}", re.IGNORECASE)
"""Words whose accented letters espeak-ng's English voice pronounces, as in their own languages (Björk, Beyoncé). It
spells words with other such letters.
"""

_LETTERS = str.maketrans("øØłŁđĐðÐıħĦŋæÆœŒþÞ", "oOlLdDdDihHneEeEtT") | {ord("ß"): "ss", ord("ə"): "e"}
_ENGLISH_WORDS = frozenset(("naive", "naively", "cooperate", "cooperation", "cooperative", "reelect", "zoology"))
"""English words that some writers give a diaeresis."""

_NAMES = {"nguyen": "win"}
"""Names pronounced unlike their spelling, each with an English word that sounds the same."""


def _without_diacritics(text: str) -> str:
    """ASCII spelling of a Latin word with diacritics; empty for ASCII words and for words of other scripts."""
    if text.isascii():
        return ""
    plain = "".join(
        character
        for character in unicodedata.normalize("NFD", text.translate(_LETTERS))
        if not unicodedata.combining(character)
    )
    return plain if plain.isascii() and any(map(str.isalpha, plain)) else ""


class Fallback:
    """Pronounces words that misaki's lexicon lacks: by espeak-ng, or by the names of their letters. It never raises."""

    def __init__(self, language: str, lexicon: Any) -> None:
        """Args:
        language: en-us or en-gb.
        lexicon: `misaki.en.Lexicon`, for the names of letters and digits.
        """
        self._lexicon = lexicon
        self._language = language
        self._alphabet = misaki.alphabet(language)

    def __call__(self, text: str) -> tuple[str, int]:
        """Phonemes of a text, and a rating that tells how they were found."""
        pieces = [text[start : start + espeak.MAX_WORD] for start in range(0, len(text), espeak.MAX_WORD)]
        spoken = [(phonemes, rating) for phonemes, rating in map(self._piece, pieces) if phonemes]
        if not spoken:
            return "", NOTHING_RATING
        return " ".join(phonemes for phonemes, _ in spoken), min(rating for _, rating in spoken)

    def _piece(self, text: str) -> tuple[str, int]:
        if plain := _without_diacritics(text):
            foreign = not _KNOWN_TO_ESPEAK.fullmatch(text)
            known = _NAMES.get(plain.lower(), plain.lower())
            if (foreign or known in _ENGLISH_WORDS) and (
                known in self._lexicon.golds or known in self._lexicon.silvers
            ):
                return self._lexicon.lookup(known, None, None, None)[0], ESPEAK_RATING
            if foreign:
                text = plain
        if phonemes := self._by_espeak(text):
            return phonemes, ESPEAK_RATING
        if phonemes := " ".join(filter(None, map(self._letter, unicodedata.normalize("NFKD", text)))):
            return phonemes, LETTERS_RATING
        return "", NOTHING_RATING

    def _by_espeak(self, text: str) -> str:
        """espeak-ng's phonemes, mapped to the alphabet; empty if no sound remains."""
        try:
            said = espeak.phonemes(text, _voice_of(text) or LANGUAGE_FILES[self._language])
        except espeak.EspeakUnavailable:
            return ""
        nearest = NEAREST[self._language]
        mapped = "".join(
            phone if phone in self._alphabet else nearest.get(phone, " " if phone == " " else "")
            for phone in unicodedata.normalize("NFD", misaki.from_espeak(said, self._language))
        )
        return " ".join(mapped.split()) if any(map(str.isalpha, mapped)) else ""

    def _letter(self, character: str) -> str:
        """Phonemes of a letter's or digit's name, from misaki's lexicon or (other scripts) from the Unicode name."""
        if named := _NAMED_LETTER.search(unicodedata.name(character, "")):
            name = named[1]
            phonemes, _ = self._lexicon.lookup(name if len(name) == 1 else name.lower(), None, None, None)
            if phonemes is None and name.isascii():
                phonemes, _ = self._lexicon.get_NNP(name)
            return phonemes or ""
        return ""


def _voice_of(text: str) -> str:
    """espeak-ng's voice for the first letter of another script; "" if there is none."""
    for character in text:
        if character.isalpha() and not character.isascii():
            script = unicodedata.name(character, "").partition(" ")[0]
            if script in _SCRIPT_VOICES:
                return _SCRIPT_VOICES[script]
    return ""
