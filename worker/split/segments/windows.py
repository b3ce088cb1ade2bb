"""The windows in which a segment is vocoded, and the times at which its characters sound.

The windows follow from the segment's length alone, never from measured times: samples of differently cut windows differ
by rounding, and the same job must give the same samples, also when it is resumed in its middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shm.timing import Mark
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


DURATION_SAMPLES = 600
"""Samples of one unit of duration."""

KEPT_LEAD = 2
"""Units (50 ms) of the silence before the first phoneme, and before the first energy, that are spoken."""

AUDIBLE_ENERGY = -4.0
"""Kokoro's energy curve, a logarithm, is about -9 in silence and 4 to 10 in speech. No sound of the
published voices that can be heard begins long before the curve passes this value."""


def lead_of(durations: NDArray[Any], energy: NDArray[Any]) -> int:
    """The number of units of silence at a segment's beginning that needn't be made.

    The beginning of sound inside the first pad depends on the first phoneme and on the speed: at half speed long
    before the pad's end.

    Args:
        durations: [phonemes + 2], with the pads before and after.
        energy: [1, frames at 80 Hz].
    """
    audible = np.flatnonzero(energy.ravel() > AUDIBLE_ENERGY)
    begins = int(audible[0]) // 2 if len(audible) else int(durations[0])
    return max(0, min(int(durations[0]), begins) - KEPT_LEAD)


def marks_of(durations: NDArray[Any], lead: float = 0, part: tuple[int, int] | None = None) -> tuple[Mark, ...]:
    """One mark for each phoneme and one for the end of the last one, in samples after the first `lead` units. `part`:
    span of the phonemes that have marks; None: all."""
    ends = (np.cumsum(durations)[:-1] - lead) * DURATION_SAMPLES
    first, last = part or (0, len(ends) - 1)
    return tuple((place, max(int(ends[place]), 0)) for place in range(first, last + 1))
