"""Units of a sentence, cut where markup asks for another speaking rate or for pauses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec

from shm.inflection import Inflection
from text.errors import Mishaps
from text.lexicon import Lexicon
from text.markup.marked import Bookmark, Inflected, Marked, Pause, Rate, SegmentEnd
from text.units.prosody import (
    LayoutElement,
    Pauses,
    ReadSentence,
    expressed,
    place_of,
    with_full_stop,
    with_inner_pauses,
)
from text.units.segmentation import pronounceable, units_of
from text.words.segment import Continuation, Cut, Notation, Sentence, Unit, Word

_SOUND = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text and the way to read it."""

    marked: Marked
    language: str
    notation: Notation
    speed: float
    then: Continuation | None
    lexicon: Lexicon
    mishaps: Mishaps
    emphasis: float = 1.0
    """Degree of the rules of expression; 0: none inflects."""


@dataclass(frozen=True, slots=True)
class Run:
    """Words of one speaking rate with no pause between them."""

    start: int
    end: int
    """Span in the row of words, by index."""
    rate: float
    pause: float | None
    """Seconds of silence after the run."""
    ends: bool = False
    """True if a segment ends after the run."""


class Pacing:
    """Rates and pauses of a text. Its callers must ask for the text's words in order, once."""

    def __init__(self, marked: Marked) -> None:
        self._rates = [each for each in marked.annotations if isinstance(each, Rate)]
        self._rate_starts = [each.start for each in self._rates]
        self._pauses = [each for each in marked.annotations if isinstance(each, Pause)]
        self._pause_places = [each.at for each in self._pauses]
        self._pauses_taken = 0
        """Number of pauses that runs have taken already: a word over an engine's limit comes in parts, and the pause
        after it counts once.
        """
        self._ends = [each.at for each in marked.annotations if isinstance(each, SegmentEnd)]
        self._text = marked.text
        self._next_word = 0

    def runs(self, origins: Sequence[tuple[int, int]]) -> Iterator[Run]:
        """Runs of a row of words, none empty; words said for the same written word are in one run.

        A pause inside a written word comes after the word. A pause before the text's first word is left out, since no
        word precedes it.

        Args:
            origins: the span of the text that each word stands for, in rising order.
        """
        if not (self._rates or self._pauses or self._ends):
            yield Run(0, len(origins), 1.0, None)
            return
        start = 0
        for end in range(1, len(origins) + 1):
            last = end == len(origins)
            if not last and origins[end] == origins[end - 1]:
                continue
            former, following = origins[end - 1][0], self._word_after(origins[-1][1]) if last else origins[end][0]
            pause = self._pause_between(former, following)
            ends = bisect_right(self._ends, following) > bisect_right(self._ends, former)
            rate = self._rate_at(origins[start])
            if last or ends or pause is not None or self._rate_at(origins[end]) != rate:
                yield Run(start, end, rate, pause, ends)
                start = end

    def _word_after(self, end: int) -> int:
        """Position of the text's next word, after characters that may be silent; the text's end if there is no word."""
        if self._next_word < end:
            found = _SOUND.search(self._text, end)
            self._next_word = found.start() if found else len(self._text)
        return self._next_word

    def _rate_at(self, origin: tuple[int, int]) -> float:
        """Speaking rate of the word's first part that has one; 1 if none has."""
        place = bisect_right(self._rate_starts, origin[0]) - 1
        for rate in self._rates[max(0, place) : place + 2]:
            if rate.end > origin[0] and rate.start < origin[1]:
                return rate.rate
        return 1.0

    def _pause_between(self, former: int, following: int) -> float | None:
        """Sum of the pauses after the beginning of one word, and at or before the beginning of the next; None if there
        are none.
        """
        first = max(bisect_right(self._pause_places, former), self._pauses_taken)
        last = bisect_right(self._pause_places, following)
        found = self._pauses[first:last]
        self._pauses_taken = max(last, self._pauses_taken)
        return sum(pause.seconds for pause in found) if found else None


_PAUSING = tuple(",;:!?…)]—–、，；：。！？।")


@dataclass(slots=True)
class _Stretch:
    """Words of one speaking rate, at least one of which sounds."""

    start: int
    end: int
    rate: float
    pause: float | None
    ends: bool


@dataclass(slots=True)
class SourcedWords:
    """Words of a sentence with the places in the text that they come from; all three lists have one item per word."""

    words: list[Word] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """The user's spelling of each word; "" if the word before has it already."""
    origins: list[tuple[int, int]] = field(default_factory=list)
    """The span of the text that each word stands for."""
    end: Cut = Cut.SENTENCE
    """Kind of boundary after the words."""
    last: bool = False
    """True if the speech ends with them."""
    pause: float | None = None
    """Silence after them in seconds, in place of the layout's; None: the layout decides."""


def paced(
    sentences: Iterator[SourcedWords], reading: Reading, pauses: Pauses, dropped: Counter[str]
) -> Iterator[Sentence]:
    """Units of each sentence, with rates, pauses and bookmarks."""
    bookmarks = Bookmarks(reading.marked)
    return bookmarks.all_given(_each_paced(sentences, reading, pauses, dropped, bookmarks))


def _each_paced(
    sentences: Iterator[SourcedWords], reading: Reading, pauses: Pauses, dropped: Counter[str], bookmarks: Bookmarks
) -> Iterator[Sentence]:
    pacing, inflections = Pacing(reading.marked), Inflections(reading.marked)
    for sourced in sentences:
        sourced.words = inflections.given_to(bookmarks.given_to(sourced), sourced.origins)
        ways = (
            partial(_laid_out, sourced, pacing, reading, pauses, dropped),
            partial(units_of, sourced.words, reading.notation, dropped, written=sourced.written, end=sourced.end),
        )
        found = reading.mishaps.first_of(ways, sourced.origins[0][0])
        yield found if sourced.pause is None else _with_pause(found, sourced.pause, 1.0)


def _laid_out(
    sourced: SourcedWords, pacing: Pacing, reading: Reading, pauses: Pauses, dropped: Counter[str]
) -> Sentence:
    place = LayoutElement.TEXT
    if sourced.end in (Cut.SENTENCE, Cut.PARAGRAPH) and not sourced.last:
        place = place_of(reading.marked.text, sourced.origins[0][0], sourced.origins[-1][1])
    words = expressed(ReadSentence(sourced.words, sourced.written, place), reading.language, reading.emphasis)
    if place is not LayoutElement.TEXT:
        words = with_full_stop(words, reading.notation)
    sourced = replace(sourced, words=words)
    found = paced_units(sourced, pacing, reading.notation, dropped, language=reading.language)
    found = with_inner_pauses(found, pauses, reading.speed)
    return found if sourced.last else _with_pause(found, pauses.after(place, sourced.end), reading.speed)


def _with_pause(sentence: Sentence, pause: float | None, speed: float) -> Sentence:
    """The sentence with a pause after it, unless markup sets one there already."""
    if pause is None or not sentence or sentence[-1].pause is not None:
        return sentence
    return (*sentence[:-1], replace(sentence[-1], pause=pause / speed))


def paced_units(
    sourced: SourcedWords, pacing: Pacing, notation: Notation, dropped: Counter[str], *, language: str
) -> Sentence:
    """`units_of` with rates and pauses: no unit mixes words of two rates, or words from both sides of a pause.

    Silent words, and a pause after them, join the unit of the words before them. Silent words before the first word
    that sounds join that word's unit, and a pause among them is dropped.
    """
    words = sourced.words
    stretches: list[_Stretch] = []
    begin = 0
    for run in pacing.runs(sourced.origins):
        if any(pronounceable(word, notation) for word in words[run.start : run.end]):
            stretches.append(_Stretch(begin, run.end, run.rate, run.pause, run.ends))
        elif stretches:
            stretches[-1].end = run.end
            stretches[-1].pause = _sum(stretches[-1].pause, run.pause)
            stretches[-1].ends |= run.ends
        else:
            continue
        begin = run.end
    units: list[Unit] = []
    for stretch in stretches:
        last = stretch.end == len(words)
        clause = stretch.pause is not None or words[stretch.end - 1].text.endswith(_PAUSING)
        part = units_of(
            words[stretch.start : stretch.end],
            notation,
            dropped,
            written=sourced.written[stretch.start : stretch.end],
            end=sourced.end if last else Cut.CLAUSE if clause else Cut.WORD,
            language=language,
        )
        units += part if stretch.rate == 1.0 else (replace(unit, rate=stretch.rate) for unit in part)
        if stretch.pause is not None:
            units[-1] = replace(units[-1], pause=stretch.pause)
        if stretch.ends:
            units[-1] = replace(units[-1], ends=True)
    return tuple(units)


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one + (other or 0.0)


class Bookmarks:
    """Bookmarks of a text that no word has yet. Its callers must give the text's words in order, once."""

    def __init__(self, marked: Marked) -> None:
        self._left = deque(each for each in marked.annotations if isinstance(each, Bookmark))

    def __bool__(self) -> bool:
        return bool(self._left)

    def given_to(self, sourced: SourcedWords) -> list[Word]:
        """The words, each with the bookmarks between the beginning of the word before and its own.

        A bookmark inside a written word belongs to the next one.
        """
        if not self._left:
            return sourced.words
        return [
            msgspec.structs.replace(word, bookmarks=self._until(start)) if spelling else word
            for word, spelling, (start, _) in zip(sourced.words, sourced.written, sourced.origins, strict=True)
        ]

    def all_given(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """The sentences, the last of them with all bookmarks that are left.

        A sentence is held until the next one comes while bookmarks are left, because only the next one shows that it
        isn't the last.
        """
        held: Sentence | None = None
        for sentence in sentences:
            if held:
                yield held
            held = sentence if self._left else None
            if held is None:
                yield sentence
        if held:
            yield self._given_after(held)

    def _given_after(self, sentence: Sentence) -> Sentence:
        """The sentence, with all bookmarks that are left after its last written word."""
        for place in reversed(range(len(sentence))):
            unit = sentence[place]
            for index in reversed(range(len(unit.words))):
                if unit.words[index].written:
                    last = replace(unit.words[index], bookmarks_after=self._until(None))
                    words = (*unit.words[:index], last, *unit.words[index + 1 :])
                    return (*sentence[:place], replace(unit, words=words), *sentence[place + 1 :])
        return sentence

    def _until(self, end: int | None) -> tuple[str, ...]:
        """Take the names of the bookmarks up to a place; None: all of them."""
        names: list[str] = []
        while self._left and (end is None or self._left[0].at <= end):
            names.append(self._left.popleft().name)
        return tuple(names)


class Inflections:
    """Inflections of a text."""

    def __init__(self, marked: Marked) -> None:
        self._stretches = [each for each in marked.annotations if isinstance(each, Inflected)]
        self._starts = [each.start for each in self._stretches]

    def given_to(self, words: list[Word], origins: Sequence[tuple[int, int]]) -> list[Word]:
        """The words, each with the inflection of the stretch in which it begins, and a contour's part for it."""
        if not self._stretches:
            return words
        return [
            msgspec.structs.replace(word, inflection=inflection) if (inflection := self._of(origin)) else word
            for word, origin in zip(words, origins, strict=True)
        ]

    def _of(self, origin: tuple[int, int]) -> Inflection | None:
        place = bisect_right(self._starts, origin[0]) - 1
        for each in self._stretches[max(0, place) : place + 2]:
            if each.end > origin[0] and each.start < origin[1]:
                length = each.end - each.start
                begin, end = max(origin[0], each.start) - each.start, min(origin[1], each.end) - each.start
                return each.inflection.part(begin / length, end / length)
        return None
