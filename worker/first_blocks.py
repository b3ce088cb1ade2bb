"""First blocks of streams, for which somebody waits in silence: segments whose listeners have enough to hear make
way."""

from __future__ import annotations

import time
from collections.abc import Iterable

from worker.segment_work import SegmentWork

URGENT = 1.0
"""Seconds until its deadline below which a stream's first block is urgent."""

ASSUMED_SECONDS = 0.3
"""Assumed time of a first block before one was made."""


class FirstBlocks:
    """Urgent first blocks in inference. The workbench's lock must be held."""

    def __init__(self) -> None:
        self._in_inference: set[SegmentWork] = set()
        self._seconds = ASSUMED_SECONDS
        """Time of the latest first block, prosody included."""

    def __bool__(self) -> bool:
        return bool(self._in_inference)

    def begin(self, segment: SegmentWork, alongside: Iterable[SegmentWork]) -> None:
        """Record that a thread begins an urgent first block, and pause the runs of other segments that can wait."""
        for other in alongside:
            if self.can_wait(other):
                other.control.pause(other.latest_start)
        self._in_inference.add(segment)

    def end(self, segment: SegmentWork, made: bool) -> None:
        """Record that the engine has returned from a segment, whether its block was a first one or not; `made`: it
        returned a block, whose time the next first block is expected to take."""
        if segment in self._in_inference:
            self._in_inference.remove(segment)
            if made:
                self._seconds = segment.seconds

    def can_wait(self, segment: SegmentWork) -> bool:
        """True if the segment's listener doesn't run dry while a first block is made before the segment's next one."""
        return segment not in self._in_inference and self.wait_ends(segment) > time.monotonic()

    def wait_ends(self, segment: SegmentWork) -> float:
        """Monotonic seconds after which the segment can no longer wait for a first block."""
        return segment.latest_start - self._seconds
