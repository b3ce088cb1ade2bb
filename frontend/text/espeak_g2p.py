"""Languages that espeak-ng pronounces, by misaki's map of its alphabet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from frontend.text import espeak
from frontend.text.misaki_import import misaki_espeak
from frontend.text.punctuation import MARKS, kinds
from frontend.text.word import Source, Word

_MAX_CLAUSE = 30
"""Words that are pronounced together; espeak-ng takes some 800 bytes at a time and would cut a longer text itself."""

# On a string of kinds. Stops, colons, hyphens and slashes inside a word or number are espeak-ng's to read.
_PIECE = re.compile(r"(?P<core>[a0$s'_x/-]+(?:[.,:][a0$s'_/-]+)*)|(?P<mark>.)", re.DOTALL)
_NO_SPACES = frozenset(("ja", "cmn"))
_MAPS = {
    "cmn": str.maketrans({"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": "", ".": "", "χ": "x", "ʐ": "ɻ"}),
    "ja": str.maketrans({"ä": "a", "\u031e": ""}),
}
"""What misaki's map says nothing about: tones, which espeak-ng numbers, and sounds that it writes another way."""


@dataclass(slots=True)
class _Part:
    word: int
    text: str
    sounds: bool
    phonemes: str = ""


class EspeakG2P:
    """Pronounces sentences of one language."""

    def __init__(self, language: str) -> None:
        """Args:
        language: one of `espeak.VOICES`.
        """
        self._misaki: Any = misaki_espeak().EspeakG2P(language)
        self._alone = language in _NO_SPACES
        self._map = _MAPS.get(language, {})

    def words(self, sentence: str) -> tuple[Word, ...]:
        texts = sentence.split()
        parts = [part for place, text in enumerate(texts) for part in _parts(place, text)]
        for sounds, run in groupby(parts, key=lambda part: part.sounds):
            if sounds:
                together = list(run)
                for start in range(0, len(together), _MAX_CLAUSE):
                    self._pronounce(together[start : start + _MAX_CLAUSE])
        spoken: list[list[_Part]] = [[] for _ in texts]
        for part in parts:
            spoken[part.word].append(part)
        return tuple(_word(text, of_word) for text, of_word in zip(texts, spoken, strict=True))

    def _pronounce(self, parts: Sequence[_Part]) -> None:
        """Together, for the sake of liaison; in halves, where espeak-ng makes more or fewer words of them."""
        found = self._phonemes(" ".join(part.text for part in parts))
        if len(parts) == 1:
            parts[0].phonemes = found
            return
        each = found.split()
        if len(each) == len(parts) and not self._alone:
            for part, phonemes in zip(parts, each, strict=True):
                part.phonemes = phonemes
        else:
            half = len(parts) // 2
            self._pronounce(parts[:half])
            self._pronounce(parts[half:])

    def _phonemes(self, text: str) -> str:
        try:
            found: str = self._misaki(text)[0]
        except espeak.EspeakUnavailable:
            return ""
        return " ".join(found.translate(self._map).split())


def _parts(place: int, text: str) -> Iterator[_Part]:
    shape = kinds(text)
    for piece in _PIECE.finditer(shape):
        start, end = piece.span()
        if piece.lastgroup == "mark":
            if start == 0 or text[start] != text[start - 1]:
                mark = MARKS.get(text[start], "“" if start == 0 else "”") if shape[start] in '".,:m' else ""
                yield _Part(place, mark, sounds=False, phonemes=mark)
            continue
        core = "".join(c for c, k in zip(text[start:end], shape[start:end], strict=True) if k != "x")
        for cut in range(0, len(core), espeak.MAX_WORD):
            yield _Part(place, core[cut : cut + espeak.MAX_WORD].replace("’", "'"), sounds=True)


def _word(text: str, parts: Sequence[_Part]) -> Word:
    phonemes = ""
    for part in parts:
        apart = part.sounds and phonemes and phonemes[-1] not in "“("
        phonemes += " " + part.phonemes if apart and part.phonemes else part.phonemes
    sounds = any(part.sounds and any(map(str.isalpha, part.phonemes)) for part in parts)
    return Word(text, phonemes, Source.ESPEAK if sounds else Source.NONE)
