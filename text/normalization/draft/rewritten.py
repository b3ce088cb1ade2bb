"""Text composed of pieces that replace spans of another text, with the source of each character."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Replacement(NamedTuple):
    """Replacement of a span of the original."""

    start: int
    end: int
    said: str
    verbatim: bool = False

    @classmethod
    def kept(cls, original: str, start: int, end: int) -> Replacement:
        """A span that stays as it is; its characters know their own places."""
        return cls(start, end, original[start:end], verbatim=True)


class Rewritten:
    """Text composed of pieces, whose spans must rise."""

    def __init__(self, pieces: Iterable[Replacement]) -> None:
        self._pieces = [piece for piece in pieces if piece.said]
        self._starts: list[int] = []
        length = 0
        for piece in self._pieces:
            self._starts.append(length)
            length += len(piece.said)
        self.verbatim = len(self._pieces) == 1 and self._pieces[0].verbatim and self._pieces[0].start == 0
        """True if the text is the original's beginning, unchanged."""
        self.text = "".join(piece.said for piece in self._pieces)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Span of the original that a span of the new text (not empty) stands for."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        origin_start, origin_end = self._pieces[first].start, self._pieces[last].end
        if self._pieces[first].verbatim:
            origin_start += start - self._starts[first]
        if self._pieces[last].verbatim:
            origin_end = self._pieces[last].start + end - self._starts[last]
        return origin_start, origin_end
