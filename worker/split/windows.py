"""Which windows a segment is vocoded in.

The windows follow from the segment's length alone, never from the time that anything took: a window's samples differ
from another cut's by rounding, and the same job must give the same samples, also when it is taken up in its middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from worker.settings import WorkerSettings

FRAMES_PER_SECOND = 80
FRAME_SAMPLES = 300

GRAIN = 4
"""Frames (50 ms) that a window's length is a multiple of, if it is neither the longest nor the last."""

SHORTEST = 12
"""Frames: what would be left for a last window shorter than this goes into the one before."""


class Window(NamedTuple):
    """Frames at 80 Hz, the first and the one after the last."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class WindowShape:
    """How long a segment's windows are, one after another. Frames at 80 Hz."""

    first: int
    """Of the first window, which decides when the listener hears something, and of the second."""
    growth: float
    """Of each one after that, against the one before it: each is made while those before it are heard."""
    longest: int

    @classmethod
    def of(cls, settings: WorkerSettings) -> WindowShape:
        longest = round(settings.window * FRAMES_PER_SECOND)
        return cls(round(settings.first_window * FRAMES_PER_SECOND), settings.window_growth, longest)

    def sizes(self) -> Iterator[int]:
        """Without end."""
        size = float(self.first)
        yield self.first
        while True:
            yield self.longest if size >= self.longest else min(GRAIN * round(size / GRAIN), self.longest)
            size *= self.growth


def windows(begin: int, end: int, shape: WindowShape) -> Iterator[Window]:
    """Consecutive windows from `begin` to `end`."""
    sizes = shape.sizes()
    while begin < end:
        size = next(sizes)
        stop = end if end - begin < size + SHORTEST else begin + size
        yield Window(begin, stop)
        begin = stop
