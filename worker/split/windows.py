"""Which windows a segment is vocoded in.

The windows follow from the segment's length alone, never from the time that anything took: a window's samples differ
from another cut's by rounding, and the same job must give the same samples, also when it is taken up in its middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

FRAMES_PER_SECOND = 80
FRAME_SAMPLES = 300

FIRST = 24
"""Frames (0.3 s) of the first window, which decides when the listener hears something."""

GROWTH = (FIRST, FIRST, 32, 40)
"""Frames of the windows at first; later ones are as long as the setting says. Each is made while those before it are
heard, on one thread too: at 0.86, 0.86, 0.80 and 0.75 of real time, as measured."""

SHORTEST = 12
"""Frames: what would be left for a last window shorter than this goes into the one before."""


class Window(NamedTuple):
    """Frames at 80 Hz, the first and the one after the last."""

    begin: int
    end: int


def windows(begin: int, end: int, longest: int) -> Iterator[Window]:
    """Consecutive windows from `begin` to `end`, growing up to `longest` frames."""
    step = 0
    while begin < end:
        size = min(GROWTH[step] if step < len(GROWTH) else longest, longest)
        stop = end if end - begin < size + SHORTEST else begin + size
        yield Window(begin, stop)
        begin = stop
        step += 1
