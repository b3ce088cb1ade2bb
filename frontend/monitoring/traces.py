"""Traces of requests: the slowest of the last hour, and the latest, with each place that their first audio passed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from frontend.contract.stages import PLACES, NotedBlock, Stages
from frontend.monitoring.report import Trace, TracedBlock

_HOUR = 3600.0

_A_MINUTE = 3
"""Traces kept of each minute, its slowest: an hour keeps 180, of about a kilobyte each."""

SLOWEST, LATEST = 5, 3
"""Traces that are reported."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """A request whose first sound was heard."""

    moment: float
    seconds: float
    started: float
    stages: Stages


class RecentTraces:
    """The requests of which somebody heard something of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._slowest: deque[list[_Heard]] = deque()
        """The slowest of each minute, the slowest first; the oldest minute first."""
        self._latest: deque[_Heard] = deque(maxlen=LATEST)

    def add(self, stages: Stages, started: float, seconds: float) -> None:
        """Note a request whose first sound was heard now, `seconds` after it had `started` (monotonic seconds)."""
        heard = _Heard(self._clock(), seconds, started, stages)
        self._latest.append(heard)
        if not self._slowest or int(self._slowest[-1][0].moment / 60) != int(heard.moment / 60):
            self._slowest.append([])
        minute = self._slowest[-1]
        minute.append(heard)
        minute.sort(key=lambda each: -each.seconds)
        del minute[_A_MINUTE:]
        self._drop_old()

    def _drop_old(self) -> None:
        while self._slowest and self._clock() - self._slowest[0][0].moment >= _HOUR:
            self._slowest.popleft()

    @property
    def slowest(self) -> list[Trace]:
        """The slowest of the hour, the slowest first."""
        self._drop_old()
        found = sorted((each for minute in self._slowest for each in minute), key=lambda each: -each.seconds)
        return [self._trace(each) for each in found[:SLOWEST]]

    @property
    def latest(self) -> list[Trace]:
        """The latest, the newest first."""
        return [self._trace(each) for each in reversed(self._latest)]

    def _trace(self, heard: _Heard) -> Trace:
        stages, started = heard.stages, heard.started
        return Trace(
            stages.request_id,
            round(self._clock() - heard.moment, 1),
            round(heard.seconds, 4),
            started,
            stages.facts,
            stages.seconds(started, PLACES, digits=5),
            [_block(each, started) for each in stages.blocks],
        )


def _block(block: NotedBlock, started: float) -> TracedBlock:
    times = (block.times.begun, block.times.made, block.times.written, block.noticed)
    return TracedBlock(block.segment, block.samples, *(round(at - started, 5) for at in times))
