"""Grapheme to phoneme for the languages that espeak-ng pronounces, a clause at a time, in misaki's alphabet.

A whole clause is one espeak-ng text, because espeak-ng stresses and links words by their neighbours ("les amis" is lez
amˈi). If espeak-ng makes more or fewer words of a clause than were written (numbers; French "parce que" is one), its
words are aligned to the written words by the phonemes of each written word alone; the phonemes themselves stay
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from shm.espeak_languages import LANGUAGE_FILES
from text.espeak import espeak
from text.espeak.ipa import misakis_alphabet
from text.words.language import EAST_ASIAN
from text.words.punctuation import MARKS, kinds
from text.words.speakable import is_phone
from text.words.word import PhonemeSource, Word
from text.words.word_alignment import groups

_MAX_CLAUSE = 60
"""Most words of one clause: the alignment's time grows with the square of their number, and written clauses are
shorter.
"""

# The pattern matches a string of `punctuation.kinds`. espeak-ng reads stops, colons, hyphens and slashes inside words.
_PIECE = re.compile(r"(?P<core>[a0$s'_x/-]+(?:[.,:][a0$s'_/-]+)*)|(?P<mark>.)", re.DOTALL)
_MAPS = {
    "cmn": str.maketrans({"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": "", ".": "", "χ": "x", "ʐ": "ɻ"}),
    "ja": str.maketrans({"ä": "a", "\u031e": ""}),
}
"""Replacements that misaki's map lacks: tones, which espeak-ng numbers, and sounds that espeak-ng writes another way.
"""


@dataclass(slots=True)
class _Part:
    word: int
    text: str
    sounds: bool
    phonemes: str = ""
    joins: bool = False
    """True if espeak-ng made one spoken word of this part and the part before it."""


class EspeakG2P:
    """Pronounces sentences of one language with espeak-ng."""

    def __init__(self, language: str) -> None:
        """Args:
        language: one of `shm.espeak_languages.LANGUAGE_FILES`.
        """
        self._language = language
        self._alone = language in EAST_ASIAN
        self._map = _MAPS.get(language, {})

    def words(self, sentence: str) -> tuple[Word, ...]:
        texts = sentence.split()
        parts = [part for place, text in enumerate(texts) for part in _parts(place, text)]
        clauses: list[list[_Part]] = []
        for sounds, run in groupby(parts, key=lambda part: part.sounds):
            if sounds:
                together = list(run)
                most = 1 if self._alone else _MAX_CLAUSE
                clauses += (together[start : start + most] for start in range(0, len(together), most))
        said = self._phonemes([" ".join(part.text for part in clause) for clause in clauses])
        for clause, phonemes in zip(clauses, said, strict=True):
            self._give(clause, phonemes)
        spoken: list[list[_Part]] = [[] for _ in texts]
        for part in parts:
            spoken[part.word].append(part)
        return tuple(_word(text, of_word) for text, of_word in zip(texts, spoken, strict=True))

    def _give(self, parts: Sequence[_Part], phonemes: str) -> None:
        """Assign the clause's phonemes to its parts; the letters of a word that espeak-ng can't say are named."""
        each = phonemes.split()
        if parts[0].word == parts[-1].word:
            parts[0].phonemes = phonemes
        elif len(each) == len(parts):
            for part, own in zip(parts, each, strict=True):
                part.phonemes = own
        else:
            alone = self._phonemes([part.text for part in parts])
            for group, shared in groups(alone, each):
                parts[group.start].phonemes = shared[0]
                for place, more in zip(group[1:], shared[1:], strict=True):
                    parts[place].phonemes, parts[place].joins = more, True
        sound = {part.word for part in parts if any(map(is_phone, part.phonemes))}
        silent = [part for part in parts if part.word not in sound and any(map(str.isalnum, part.text))]
        for part, own in zip(silent, self._phonemes([part.text for part in silent]), strict=True):
            if any(map(is_phone, own)):
                part.joins = True  # a neighbour has its sound
            else:
                part.phonemes = " ".join(filter(None, self._phonemes(list(part.text))))

    def _phonemes(self, texts: Sequence[str]) -> list[str]:
        try:
            found = espeak.phonemes_of(texts, LANGUAGE_FILES[self._language])
        except espeak.EspeakUnavailable:
            return [""] * len(texts)
        return [
            " ".join(misakis_alphabet(ipa, self._language).translate(self._map).split()) if ipa else "" for ipa in found
        ]


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
        apart = part.sounds and not part.joins and phonemes and phonemes[-1] not in "“("
        phonemes += " " + part.phonemes if apart and part.phonemes else part.phonemes
    sounds = any(part.sounds and any(map(str.isalpha, part.phonemes)) for part in parts)
    joins = bool(parts) and parts[0].joins
    return Word(text, phonemes, PhonemeSource.ESPEAK if sounds else PhonemeSource.NONE, joins)
