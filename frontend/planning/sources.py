"""Sources of sentences for the planner: a text that is all there, and a text that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from frontend.contract.growing_text import GrowingText, TextMark, TextPart
from text.words.segment import Sentence


class SentenceSource(Protocol):
    """A text's sentences, with one sentence of lookahead. The text may come in stretches, which share no segment."""

    grows: bool
    """True if sentences are planned one by one as they come, so that no plan depends on the time at which the next
    sentence was written. A sentence below the minimum joins the next one nevertheless."""

    def peek(self) -> Sentence | None:
        """The next sentence; empty at the end of the stretch, None if it isn't written yet."""
        ...

    def take(self) -> Sentence | None:
        """Remove the next sentence and return it; empty and None as in `peek`."""
        ...

    def continues(self) -> TextMark | None:
        """Go on to the next stretch after the end of one: `FLUSH` or `WAITING`; None at the end of the text."""
        ...


class WholeText:
    """A text that is all there. Implements `SentenceSource`."""

    grows = False

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._rest = iter(sentences)
        self._ahead: Sentence | None = None

    def peek(self) -> Sentence:
        if self._ahead is None:
            self._ahead = next(self._rest, ())
        return self._ahead

    def take(self) -> Sentence:
        sentence = self.peek()
        self._ahead = None if sentence else ()
        return sentence

    def continues(self) -> None:
        pass


class WrittenText:
    """A text that grows. Implements `SentenceSource`. A stretch ends at a flush, and where the text is hurried."""

    grows = True

    def __init__(self, text: GrowingText, sentences_of: Callable[[TextPart], Iterator[Sentence]]) -> None:
        self._text = text
        self._sentences_of = sentences_of
        self._sentences: Iterator[Sentence] = iter(())
        self._ahead: Sentence | None = None
        self._flush = False
        """True if the part in hand ends with a flush."""
        self._ended = False

    def peek(self) -> Sentence | None:
        while self._ahead is None:
            if sentence := next(self._sentences, None):
                self._ahead = sentence
            elif self._flush:
                self._ahead = ()
            else:
                ended = self._text.ended  # read before the queue: parts are added before the end
                part = self._text.take()
                if part is not None:
                    self._sentences, self._flush = self._sentences_of(part), part.flush
                elif ended or self._text.hurried:
                    self._ended = ended
                    self._ahead = ()
                else:
                    return None
        return self._ahead

    def take(self) -> Sentence | None:
        sentence = self.peek()
        if sentence:
            self._ahead = None
        return sentence

    def continues(self) -> TextMark | None:
        if self._ended:
            return None
        self._ahead = None
        self._text.hurried = False
        flushed, self._flush = self._flush, False
        return TextMark.FLUSH if flushed else TextMark.WAITING
