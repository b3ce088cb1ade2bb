"""Grapheme to phoneme for the languages that espeak-ng pronounces, a clause at a time, in misaki's alphabet.

A whole clause is one espeak-ng text, because espeak-ng stresses and links words by their neighbours ("les amis" is lez
amˈi). If espeak-ng makes more or fewer words of a clause than were written (numbers; French "parce que" is one), its
words are aligned to the written words by the phonemes of each written word alone; the phonemes themselves stay
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, groupby, pairwise
from operator import attrgetter

from msgspec.structs import replace

from shm.espeak.messages import LANGUAGE_FILES
from text.espeak import espeak, misaki
from text.words.language import EAST_ASIAN
from text.words.punctuation import MARKS, is_phone, kinds
from text.words.segment import PhonemeSource, Word

_MOST_SPOKEN = 12
"""Most spoken words of one written word: a year has five, a large number more."""

_MOST_WRITTEN = 3
"""Most written words that are one spoken word."""

_EDGE = 2
"""Cost of a vowel in place of a consonant as the first or last sound, or the other way round; its unit is the cost of
one sound more or fewer, or of another sound of the same kind. Both ends of a word that is left silent differ: else a
neighbour would take the sounds of a short word.
"""

_VOWELS = frozenset("aeiouyæøœɐɑɒɔəɚɛɜɤɨɪɯʉʊʌʏAIOQWY")

_STRESS = str.maketrans("", "", "ˈˌː")


def groups(alone: Sequence[str], spoken: Sequence[str]) -> list[tuple[range, list[str]]]:
    """Groups of written words, by index, each with the spoken words of its members.

    A group is one written word with any number of spoken words, or several written words with one spoken word that is
    divided among them. All groups together have each written word once, and all spoken words in order, unchanged. The
    time grows with the words' number and with how much they differ.

    Args:
        alone: phonemes of each written word by itself; spaces separate the spoken words of one written word.
        spoken: the clause's spoken words, as phonemes.
    """
    bare = [word.translate(_STRESS).replace(" ", "") for word in alone]
    heard = [word.translate(_STRESS) for word in spoken]
    limit, most = 8, sum(map(len, bare)) + sum(map(len, heard)) + 2 * _EDGE * len(bare)
    while len(heard) not in (best := _cheapest(bare, heard, limit))[-1]:
        if limit > most:
            return _around_longest(bare, spoken)
        limit *= 2
    found: list[tuple[range, list[str]]] = []
    i, j = len(alone), len(spoken)
    while i:
        _, taken, count = best[i][j]
        own = " ".join(spoken[j - count : j])
        found.append((range(i - taken, i), [own] if taken == 1 else _divided(own, [*map(len, alone[i - taken : i])])))
        i, j = i - taken, j - count
    return found[::-1]


def _cheapest(bare: Sequence[str], heard: Sequence[str], limit: int) -> list[dict[int, tuple[int, int, int]]]:
    """For each number of written words, by the number of spoken ones: the cost of aligning so many, and the last
    group's numbers of words. Only those are kept of which the whole may cost up to `limit`: what remains costs no less
    than its difference in sounds.
    """
    lengths, sounds = [0, *accumulate(map(len, bare))], [0, *accumulate(map(len, heard))]
    rest = sounds[-1] - lengths[-1]
    best: list[dict[int, tuple[int, int, int]]] = [{0: (0, 0, 0)}]
    for i, last in enumerate(bare, 1):
        row: dict[int, tuple[int, int, int]] = {}
        for taken in range(1, min(_MOST_WRITTEN, i) + 1):
            first, ahead = bare[i - taken][:1], lengths[i] - lengths[i - taken]
            for j, (before, _, _) in sorted(best[i - taken].items()):
                if taken == 1:
                    cost = before + len(last) + (2 * _EDGE if last else 0)
                    if cost + abs(rest - sounds[j] + lengths[i]) <= limit and (j not in row or cost < row[j][0]):
                        row[j] = (cost, 1, 0)
                opens = _edge(first, heard[j][:1]) if j < len(heard) else 0
                for k in range(j + 1, min(len(heard), j + (_MOST_SPOKEN if taken == 1 else 1)) + 1):
                    more = sounds[k] - sounds[j] - ahead
                    if before + more > limit:
                        break
                    cost = before + abs(more) + opens + _edge(last[-1:], heard[k - 1][-1:])
                    if cost + abs(rest - sounds[k] + lengths[i]) <= limit and (k not in row or cost < row[k][0]):
                        row[k] = (cost, taken, k - j)
        best.append(row)
    return best


def _edge(one: str, other: str) -> int:
    if one == other:
        return 0
    return 1 if one and other and (one in _VOWELS) == (other in _VOWELS) else _EDGE


def _around_longest(bare: Sequence[str], spoken: Sequence[str]) -> list[tuple[range, list[str]]]:
    """One spoken word for each written word, and all that remain for the longest, if there are too many to align."""
    longest = max(range(len(bare)), key=lambda place: len(bare[place]))
    ends = [0, *accumulate(len(spoken) - len(bare) + 1 if place == longest else 1 for place in range(len(bare)))]
    return [(range(i, i + 1), [" ".join(spoken[start:end])]) for i, (start, end) in enumerate(pairwise(ends))]


def _divided(word: str, lengths: Sequence[int]) -> list[str]:
    """Parts of one spoken word, with lengths in proportion to `lengths`; a stress mark stays with its vowel.

    Empty parts come last: the others continue the first, which must not be silent.
    """
    total = sum(lengths) or 1
    ends = [round(len(word) * end / total) for end in accumulate(lengths)]
    ends = [end - (0 < end < len(word) and word[end - 1] in "ˈˌ") for end in ends]
    parts = [word[start:end] for start, end in zip([0, *ends[:-1]], [*ends[:-1], len(word)], strict=True)]
    return sorted(parts, key=lambda part: not part)


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
        language: one of `shm.espeak.messages.LANGUAGE_FILES`.
        """
        self._language = language
        self._alone = language in EAST_ASIAN
        self._map = _MAPS.get(language, {})

    def words(self, sentence: str) -> tuple[Word, ...]:
        texts = sentence.split()
        spoken = [_parts(place, text) for place, text in enumerate(texts)]
        clauses: list[list[_Part]] = []
        for sounds, run in groupby(chain.from_iterable(spoken), key=attrgetter("sounds")):
            if sounds:
                together = list(run)
                most = 1 if self._alone else _MAX_CLAUSE
                clauses += (together[start : start + most] for start in range(0, len(together), most))
        said = self._phonemes([" ".join(part.text for part in clause) for clause in clauses])
        for clause, phonemes in zip(clauses, said, strict=True):
            self._give(clause, phonemes)
        return tuple(map(_word, texts, spoken))

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
        if not texts:
            return []
        try:
            found = espeak.phonemes_of(texts, LANGUAGE_FILES[self._language])
        except espeak.EspeakUnavailable:
            return [""] * len(texts)
        said = [misaki.from_espeak(ipa, self._language) if ipa else "" for ipa in found]
        return [" ".join((ipa.translate(self._map) if self._map else ipa).split()) for ipa in said]


def _parts(place: int, text: str) -> list[_Part]:
    pieces = _pieces(text) if len(text) <= espeak.MAX_WORD else _pieces.__wrapped__(text)
    return [_Part(place, piece, sounds, "" if sounds else piece) for piece, sounds in pieces]


@lru_cache(4096)
def _pieces(text: str) -> tuple[tuple[str, bool], ...]:
    """Texts and marks of a word, each with whether it is a text."""
    shape = kinds(text)
    pieces: list[tuple[str, bool]] = []
    for piece in _PIECE.finditer(shape):
        start, end = piece.span()
        if piece.lastgroup == "mark":
            if start == 0 or text[start] != text[start - 1]:
                mark = MARKS.get(text[start], "“" if start == 0 else "”") if shape[start] in '".,:m' else ""
                pieces.append((mark, False))
            continue
        core = text[start:end]
        if "x" in piece[0]:
            core = "".join(c for c, k in zip(core, piece[0], strict=True) if k != "x")
        cuts = range(0, len(core), espeak.MAX_WORD)
        pieces += ((core[cut : cut + espeak.MAX_WORD].replace("’", "'"), True) for cut in cuts)
    return tuple(pieces)


def _word(text: str, parts: Sequence[_Part]) -> Word:
    phonemes, source = "", PhonemeSource.NONE
    for part in parts:
        own = part.phonemes
        if part.sounds and own:
            if phonemes and not part.joins and phonemes[-1] not in "“(":
                phonemes += " "
            if any(map(str.isalpha, own)):
                source = PhonemeSource.ESPEAK
        phonemes += own
    return Word(text, phonemes, source, bool(parts) and parts[0].joins)


def by_rule(sentence: str, language: str) -> tuple[Word, ...]:
    """Words pronounced by espeak-ng in clauses, one for each of `sentence.split()`."""
    return EspeakG2P(language).words(sentence)


def spelled(sentence: str, language: str) -> tuple[Word, ...]:
    """Words of which each letter and digit is named, with their punctuation, one for each of `sentence.split()`."""
    return tuple(_letters_named(text, language) for text in sentence.split())


def _letters_named(text: str, language: str) -> Word:
    parts = _parts(0, text)
    for part in parts:
        if part.sounds:
            names = espeak.phonemes_of([sign for sign in part.text if sign.isalnum()], LANGUAGE_FILES[language])
            part.phonemes = " ".join(filter(None, (misaki.from_espeak(name, language) for name in names)))
    word = _word(text, parts)
    return word if word.source is PhonemeSource.NONE else replace(word, source=PhonemeSource.LETTERS)
