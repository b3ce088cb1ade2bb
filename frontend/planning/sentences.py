"""The sentences that the planner cuts: of a text that is all there, and of one that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import NamedTuple

from frontend.contract.growing_text import GrowingText, TextMark, TextPart
from text.sentences.growth import AHEAD, CLAUSE_ENDS
from text.words.segment import Sentence, SpokenWord, Unit


class SentenceSource:
    """The sentences of a text that is all there, with one sentence of lookahead."""

    grows = False
    """True if sentences are planned one by one as they come, so that no plan depends on the time at which the next
    sentence was written. A sentence below the minimum joins the next one nevertheless."""
    said = 0
    """Number of words of the sentence that was taken last which were spoken before."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._rest = iter(sentences)
        self._ahead: Sentence | None = None

    def peek(self) -> Sentence | None:
        """The next sentence; empty at the end of the text or of a stretch of it, None if it isn't written yet."""
        if self._ahead is None:
            self._ahead = next(self._rest, ())
        return self._ahead

    def take(self) -> Sentence | None:
        """Remove the next sentence and return it; empty and None as in `peek`."""
        sentence = self.peek()
        if sentence:
            self._ahead = None
        return sentence

    def next_stretch(self) -> TextMark | None:
        """Go on to the next stretch after the end of one: `FLUSH` or `WAITING`; None at the end of the text."""
        return None

    def opening(self) -> BegunSentence | None:
        """Remove the beginning of the next sentence if that is to be spoken before the sentence is whole."""
        return None

    def spoke(self, words: int) -> None:
        """Note that so many first words of a sentence are spoken before it is whole."""


@dataclass(frozen=True, slots=True)
class BegunSentence:
    """The beginning of a sentence that isn't whole yet."""

    units: Sentence
    words: int
    """Number of its words that are spoken, those that were spoken before included."""
    said: int = 0
    """Number of them that streams before this one have spoken."""


class Border(NamedTuple):
    """The end of a word in a text without white space between words."""

    place: int
    """Characters of the text before it."""
    words: int
    """Words of the reader's before it: white space separates them in the script."""


_LEAST_MORE = 3
"""Fewest more words of the reader's with which a sentence that was begun is gone on with before it is whole."""

_FARTHEST = 12
"""Most characters before the last settled one among which a word's end is looked for: each costs a reading."""


class WrittenText(SentenceSource):
    """The sentences of a text that is still being written, in stretches that share no segment. A stretch ends at a
    flush, and where the text is hurried."""

    grows = True

    def __init__(
        self,
        text: GrowingText,
        sentences_of: Callable[[TextPart], Iterator[Sentence]],
        settled: Callable[[Sequence[str]], int] = len,
        unspaced: tuple[int, int] | None = None,
    ) -> None:
        """
        Args:
            settled: function that returns how many of an opening's words sound alike whatever its sentence becomes.
            unspaced: in a language without white space between words, numbers of its reader's words of an opening:
                those that must follow a spoken one, and the fewest that are spoken. Places in its text are characters.
        """
        super().__init__(())
        self._text = text
        self._sentences_of = sentences_of
        self._settled = settled
        self._sentences: Iterator[Sentence] = iter(())
        self._flush = False
        """True if the part in hand ends with a flush."""
        self._ended = False
        self._part_said = self.said = 0
        self._unspaced = unspaced
        self._borders: list[Border] = []
        """Ends of the spoken pieces of a sentence without white space."""
        self._begun: list[Border] = []
        """Those of the opening that was taken last, which may not be spoken."""

    def peek(self) -> Sentence | None:
        while self._ahead is None:
            if sentence := next(self._sentences, None):
                self._ahead = sentence
            elif self._flush or self._text.hurried:
                self._ahead = ()
            else:
                ended = self._text.ended  # read before the queue: parts are added before the end
                if (first := self._text.first) and first.opening:
                    return None
                part = self._text.take()
                if part is not None:
                    self._text.said = 0
                    self._sentences, self._flush = self._sentences_of(part), part.flush
                    self._part_said = part.said
                    if self._unspaced and (borders := self._borders_before(part)):
                        begun = [divided(each, borders) for each in islice(self._sentences, 1)]
                        self._sentences = chain(begun, self._sentences)
                        self._part_said = sum(each.place <= part.said for each in borders)
                        self._borders = []
                elif ended:
                    self._ended = True
                    self._ahead = ()
                else:
                    return None
        return self._ahead

    def take(self) -> Sentence | None:
        sentence = super().take()
        self.said = 0
        if sentence and self._part_said:
            self.said = min(self._part_said, len(words_of(sentence)))
            self._part_said -= self.said
        return sentence

    def opening(self) -> BegunSentence | None:
        if not ((first := self._text.first) and first.opening and self._ahead is None):
            return None
        part = self._text.take()
        assert part is not None
        units = self._units(part)
        if self._unspaced:
            return self._unspaced_opening(part, units, *self._unspaced)
        words = part.text.split()
        settled = self._settled(words) if words_of(units) == words else 0
        if not self._text.said and settled < len(words):
            settled = 0  # it would stop at that word until the sentence is whole
        return BegunSentence(units, min(settled, part.opening), part.said)

    def spoke(self, words: int) -> None:
        self._text.said = words
        if self._unspaced:
            self._borders = self._begun
            self._text.said = self._begun[-1].place

    def _units(self, part: TextPart) -> Sentence:
        return tuple(unit for sentence in self._sentences_of(part) for unit in sentence)

    def _script_of(self, text: str) -> str:
        """Script of an opening of that text."""
        return _joined(self._units(TextPart(text, opening=len(text))))

    def _borders_before(self, part: TextPart) -> list[Border]:
        """Borders of what is spoken of a part's first sentence, by this stream or those before."""
        if not self._borders and part.said:
            return [Border(part.said, len(self._script_of(part.text[: part.said]).split(" ")))]
        return self._borders

    def _unspaced_opening(self, part: TextPart, units: Sentence, held: int, shortest: int) -> BegunSentence:
        """The beginning up to the last word of the reader's that is settled: a text that ends there has the words, and
        so the sound, that it has in the whole opening."""
        text, script = part.text, _joined(units)
        borders = self._borders_before(part)
        said, spoken = sum(each.place <= part.said for each in borders), borders[-1].place if borders else 0
        self._begun = borders
        if "".join(words_of(units)) != text:
            return BegunSentence(units, 0)
        there = script.split(" ")
        fewest = borders[-1].words + _LEAST_MORE if borders else shortest
        settled = min(part.opening, self._settled([text]) - AHEAD)
        longer = self._script_of(text[: settled + 1])
        for place in range(settled, max(spoken, settled - _FARTHEST), -1):
            begun = self._script_of(text[:place])
            count = len(begun.split(" "))
            if count < fewest and not (text[place - 1] in CLAUSE_ENDS and place == part.opening):
                break
            # A word's first characters may be read as all of it (貸 as 貸し): its end is the last such place.
            if begun != longer and count + held <= len(there) and script.startswith(f"{begun} "):
                self._begun = [*borders, *_ends(units, spoken, place), Border(place, count)]
                return BegunSentence(divided(units, self._begun), len(self._begun), said)
            longer = begun
        return BegunSentence(units, 0)

    def next_stretch(self) -> TextMark | None:
        if self._ended:
            return None
        self._ahead = None
        self._text.unhurried()
        flushed, self._flush = self._flush, False
        return TextMark.FLUSH if flushed else TextMark.WAITING


def words_of(units: Sequence[Unit]) -> list[str]:
    return [written for unit in units for word in unit.words for written in word.written.split()]


def _joined(units: Sequence[Unit]) -> str:
    """Script of a segment of these units."""
    return "".join(unit.lead + unit.script for unit in units)[len(units[0].lead) if units else 0 :]


def _ends(units: Sequence[Unit], first: int, last: int) -> Iterator[Border]:
    """Ends of the units' words between two places of the text."""
    place, script = 0, ""
    for unit in units:
        script += unit.lead if script else ""
        for word in unit.words:
            place += len(word.said)
            if first < place < last:
                yield Border(place, len((script + unit.script[: word.end]).split(" ")))
        script += unit.script


def divided(units: Sequence[Unit], borders: Sequence[Border]) -> Sentence:
    """The units with their words, up to the last of these borders, divided there and nowhere else. Up to that border,
    the text is spoken as it is written."""
    if not borders:
        return tuple(units)
    text = "".join(word.said for unit in units for word in unit.words)
    spaces = [place for place, character in enumerate(_joined(units)) if character == " "]
    ends = {each.place: [*spaces, len(_joined(units))][min(each.words - 1, len(spaces))] for each in borders}
    pieces = dict(pairwise([0, *ends]))
    found: list[Unit] = []
    place = at = 0
    rest = ""
    """Written characters of the words in hand, apart from what is divided."""
    for unit in units:
        at += len(unit.lead) if found else 0
        words: list[SpokenWord] = []
        for word in unit.words:
            rest += word.written
            cuts = [place, *(each for each in ends if place < each < place + len(word.said)), place + len(word.said)]
            for first, last in pairwise(cuts):
                start = max(word.start, min(ends[first] + 1 - at, word.end)) if first > place else word.start
                end = max(word.start, min(ends[last] - at, word.end)) if last < cuts[-1] else word.end
                before = first < borders[-1].place
                written = text[first : pieces[first]] if first in pieces else "" if before else rest
                rest = rest[last - first :] if before else ""
                said = word.said[first - place : last - place]
                words.append(replace(word, written=written, said=said, start=start, end=end))
            place = cuts[-1]
        at += len(unit.script)
        found.append(replace(unit, words=tuple(words)))
    return tuple(found)
