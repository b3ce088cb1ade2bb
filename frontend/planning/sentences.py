"""The sentences that the planner cuts: of a text that is all there, and of one that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from frontend.contract.growing_text import GrowingText, TextMark, TextPart
from text.words.segment import Sentence, Unit


class SentenceSource:
    """The sentences of a text that is all there, with one sentence of lookahead."""

    grows = False
    """True if sentences are planned one by one as they come, so that no plan depends on the time at which the next
    sentence was written. A sentence below the minimum joins the next one nevertheless."""

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

    @property
    def said(self) -> int:
        """Number of words of the sentence that was taken last which were spoken before."""
        return 0


@dataclass(frozen=True, slots=True)
class BegunSentence:
    """The beginning of a sentence that isn't whole yet."""

    units: Sentence
    words: int
    """Number of its words that are spoken, those that were spoken before included."""
    said: int = 0
    """Number of them that streams before this one have spoken."""


class WrittenText(SentenceSource):
    """The sentences of a text that is still being written, in stretches that share no segment. A stretch ends at a
    flush, and where the text is hurried."""

    grows = True

    def __init__(
        self,
        text: GrowingText,
        sentences_of: Callable[[TextPart], Iterator[Sentence]],
        settled: Callable[[Sequence[str]], int] = len,
    ) -> None:
        """`settled`: function that returns how many of an opening's words sound alike whatever its sentence becomes."""
        super().__init__(())
        self._text = text
        self._sentences_of = sentences_of
        self._settled = settled
        self._sentences: Iterator[Sentence] = iter(())
        self._flush = False
        """True if the part in hand ends with a flush."""
        self._ended = False
        self._part_said = self._said = 0

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
                elif ended:
                    self._ended = True
                    self._ahead = ()
                else:
                    return None
        return self._ahead

    def take(self) -> Sentence | None:
        sentence = super().take()
        self._said = 0
        if sentence and self._part_said:
            self._said = min(self._part_said, len(words_of(sentence)))
            self._part_said -= self._said
        return sentence

    @property
    def said(self) -> int:
        return self._said

    def opening(self) -> BegunSentence | None:
        if not ((first := self._text.first) and first.opening and self._ahead is None):
            return None
        part = self._text.take()
        assert part is not None
        units = tuple(unit for sentence in self._sentences_of(part) for unit in sentence)
        words = part.text.split()
        settled = self._settled(words) if words_of(units) == words else 0
        if not self._text.said and settled < len(words):
            settled = 0  # it would stop at that word until the sentence is whole
        return BegunSentence(units, min(settled, part.opening), part.said)

    def spoke(self, words: int) -> None:
        self._text.said = words

    def next_stretch(self) -> TextMark | None:
        if self._ended:
            return None
        self._ahead = None
        self._text.unhurried()
        flushed, self._flush = self._flush, False
        return TextMark.FLUSH if flushed else TextMark.WAITING


def words_of(units: Sequence[Unit]) -> list[str]:
    return [written for unit in units for word in unit.words for written in word.written.split()]
