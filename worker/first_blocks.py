"""First blocks of streams, for which somebody waits in silence: segments whose listeners have enough to hear make
way, and then wait for their turn."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping
from itertools import accumulate

from worker.segment_work import HEARD_SOONER, SegmentWork

URGENT = 1.0
"""Seconds until its deadline below which a stream's first block is urgent."""

ASSUMED_SECONDS = 0.3
"""Assumed time of a first block before one was made."""


class FirstBlocks:
    """Urgent first blocks in inference. The workbench's lock must be held."""

    def __init__(self, concurrency: int) -> None:
        """`concurrency`: number of blocks that the engine makes at once."""
        self._concurrency = concurrency
        self._in_inference: set[SegmentWork] = set()
        self._seconds = ASSUMED_SECONDS
        """Time of the latest first block, prosody included."""

    def __bool__(self) -> bool:
        return bool(self._in_inference)

    def begin(self, segment: SegmentWork, pausable: Mapping[SegmentWork, float]) -> None:
        """Record that a thread begins an urgent first block, and pause the given runs, each until its latest start."""
        for other, latest_start in pausable.items():
            other.control.pause(latest_start)
        self._in_inference.add(segment)

    def end(self, segment: SegmentWork, made: bool) -> None:
        """Record that the engine has returned from a segment, whether its block was a first one or not; `made`: it
        returned a block, whose time the next first block is expected to take."""
        if segment in self._in_inference:
            self._in_inference.remove(segment)
            if made:
                self._seconds = segment.seconds

    def patient(self, segments: Iterable[SegmentWork]) -> dict[SegmentWork, float]:
        """Those of the segments whose listeners don't run dry while a first block is made before their next ones, each
        with its latest start (monotonic seconds)."""
        others = [segment for segment in segments if segment not in self._in_inference]
        starts, end = latest_starts(others, self._concurrency), time.monotonic() + self._seconds
        return {segment: start for segment, start in starts.items() if start > end}

    def seconds_to_wait(self, patient: Mapping[SegmentWork, float]) -> float | None:
        """Seconds until one of the patient segments, by their latest starts, can no longer wait for a first block; None
        if none waits."""
        if not self._in_inference or not patient:
            return None
        return min(max(0.0, min(patient.values()) - self._seconds - time.monotonic()), threading.TIMEOUT_MAX)


def latest_starts(segments: Iterable[SegmentWork], concurrency: int) -> dict[SegmentWork, float]:
    """Monotonic seconds by which each segment's next block must be begun, so that all are ready in time although only
    `concurrency` are made at once, the nearest deadline first.

    Several listeners who came together have as much to hear: if each block waited as long as it alone could, the last
    one made would be late.
    """
    ordered = sorted(segments, key=lambda segment: segment.deadline)
    work = accumulate(segment.block_seconds for segment in ordered)
    starts = {}
    for segment, seconds in zip(ordered, work, strict=True):
        starts[segment] = segment.deadline - HEARD_SOONER - max(segment.block_seconds, seconds / concurrency)
    earliest = math.inf
    for segment in reversed(ordered):
        earliest = starts[segment] = min(earliest, starts[segment])
    return starts
