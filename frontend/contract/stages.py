"""The stages of one request: the places that its first audio passes, by one clock in all processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from shm.messages import BlockTimes

PLACES = (
    *("connected", "head", "asked", "reading", "planned", "dispatched"),
    *("taken", "begun", "prosody", "features", "made", "written"),
    *("first_block", "encoded", "first_byte", "first_audio"),
)
"""The front had the connection (if this is its first request) and the request's head; the text was checked; a thread
took it up; its first segment was cut and ordered.

The worker read the order, took it up, had its prosody and features, its first block, and that in the ring.

The front noticed the block, had its first audio encoded, and handed the answer's first byte, and speech, to the
socket."""

LOGGED = ("planned", "dispatched", "first_block", "first_byte", "first_audio")
"""Places in the log's line."""

_BLOCKS = 8
"""Blocks whose times are kept: those that decide whether the listener hears a gap at once."""


@dataclass(frozen=True, slots=True)
class NotedBlock:
    """A block of a segment, with its times in the worker."""

    segment: int
    samples: int
    times: BlockTimes
    noticed: float
    """Monotonic seconds at which the front had it."""


class Stages:
    """Stages of one request. A stage that was skipped (a cache hit needs no worker) is absent."""

    def __init__(self) -> None:
        self.stream: int | None = None
        """The number under which workers know it."""
        self.request_id = ""
        self.facts: dict[str, str | int] = {}
        """Return the request's fields of the log's line: engine, voice, language, characters."""
        self.audio_seconds = 0.0
        """Seconds of audio that were encoded."""
        self.blocks: deque[NotedBlock] = deque()
        """The first blocks that workers made."""
        self._work = self._made = 0.0
        self._reached: dict[str, float] = {}

    def reach(self, place: str, at: float | None = None) -> None:
        """Note that the request is at the place now, or was at `at` (monotonic seconds); the first time counts."""
        assert place in PLACES
        self._reached.setdefault(place, time.monotonic() if at is None else at)

    def block(self, segment: int, samples: int, times: BlockTimes) -> None:
        """Note a block that a worker has made."""
        if len(self.blocks) < _BLOCKS:
            if not self.blocks:
                for place, at in _worker_places(times):
                    self.reach(place, at)
            self.blocks.append(NotedBlock(segment, samples, times, time.monotonic()))

    def seconds(self, since: float, places: tuple[str, ...] = LOGGED, digits: int = 3) -> dict[str, float]:
        """Time of each place, in seconds from `since` (monotonic)."""
        return {place: round(self._reached[place] - since, digits) for place in places if place in self._reached}

    def made(self, work: float, audio: float) -> None:
        """Note a segment that took `work` seconds of an inference thread for `audio` seconds."""
        self._work += work
        self._made += audio

    def report(self, since: float) -> dict[str, str | float]:
        """All that the log's line says; times are seconds from `since` (monotonic)."""
        found: dict[str, str | float] = {} if self.stream is None else {"stream": self.stream}
        found |= self.facts
        if self.audio_seconds:
            found["audio"] = round(self.audio_seconds, 2)
        if self._made:
            found["real_time_factor"] = round(self._work / self._made, 3)
        return found | self.seconds(since)

    def line(self, since: float) -> str:
        """`stream=7 engine=kokoro …`, each with a space before it; empty where nothing is known."""
        return "".join(f" {name}={value}" for name, value in self.report(since).items())


def _worker_places(times: BlockTimes) -> Iterator[tuple[str, float]]:
    found = ("taken", "begun", "prosody", "features", "made", "written")
    noted = (times.read, times.begun, times.prosody, times.features, times.made, times.written)
    return ((place, at) for place, at in zip(found, noted, strict=True) if at)
