"""Delayed actions, on a clock that is passed in."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class Timers:
    """Actions by due time. This class never waits: the loop asks when to call `run_due`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Run `action` in `delay` seconds. It can't be cancelled: the action checks for itself if it is still
        wanted."""
        heapq.heappush(self._due, (self.clock() + delay, next(self._numbers), action))

    def wake(self, delay: float) -> None:
        """Wake the loop in `delay` seconds: the lifecycle reconciles then."""
        self.after(delay, lambda: None)

    def run_due(self) -> None:
        while self._due and self._due[0][0] <= self.clock():
            heapq.heappop(self._due)[2]()

    @property
    def next(self) -> float | None:
        """Due time of the next action in monotonic seconds."""
        return self._due[0][0] if self._due else None
