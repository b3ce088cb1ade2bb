"""The windows in which a segment is vocoded.

The windows follow from the segment's length alone, never from measured times: samples of differently cut windows differ
by rounding, and the same job must give the same samples, also when it is resumed in its middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from worker.settings import WorkerSettings

FRAMES_PER_SECOND = 80
FRAME_SAMPLES = 300

GRAIN = 4
"""Frames (50 ms) of which a window's length is a multiple, unless it is the longest or the last window."""

SHORTEST = 12
"""Shortest last window in frames; a shorter remainder is added to the window before."""


class Window(NamedTuple):
    """A window's first frame and the frame after its last one, at 80 Hz."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class WindowShape:
    """Lengths of a segment's consecutive windows, in frames at 80 Hz."""

    first: int
    """Length of the first window, which decides the time to first audio, and of the second one."""
    growth: float
    """Growth of each later window over the one before it: each is made while the earlier ones are heard."""
    longest: int

    @classmethod
    def of(cls, settings: WorkerSettings) -> WindowShape:
        longest = round(settings.window * FRAMES_PER_SECOND)
        return cls(round(settings.first_window * FRAMES_PER_SECOND), settings.window_growth, longest)

    def sizes(self) -> Iterator[int]:
        """An endless iterator of window lengths."""
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
