"""Splitting of a sentence's words where the speaking rate changes or a pause is requested."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from text.markup.marked import Marked, Pause, Rate

_SOUND = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Run:
    """Words of one speaking rate with no pause between them."""

    start: int
    end: int
    """Span in the row of words, by index."""
    rate: float
    pause: float | None
    """Seconds of silence after the run."""


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
        self._text = marked.text
        self._next_word = 0

    def runs(self, origins: Sequence[tuple[int, int]]) -> Iterator[Run]:
        """Runs of a row of words, none empty; words said for the same written word are in one run.

        A pause inside a written word comes after the word. A pause before the text's first word is left out, since no
        word precedes it.

        Args:
            origins: the span of the text that each word stands for, in rising order.
        """
        if not self._rates and not self._pauses:
            yield Run(0, len(origins), 1.0, None)
            return
        start = 0
        for end in range(1, len(origins) + 1):
            last = end == len(origins)
            if not last and origins[end] == origins[end - 1]:
                continue
            pause = self._pause_between(
                origins[end - 1][0], self._word_after(origins[-1][1]) if last else origins[end][0]
            )
            rate = self._rate_at(origins[start])
            if last or pause is not None or self._rate_at(origins[end]) != rate:
                yield Run(start, end, rate, pause)
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
