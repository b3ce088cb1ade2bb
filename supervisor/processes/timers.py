"""Delayed actions, on a clock that is passed in."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

LATE = 1.0
"""Seconds by which an action may be late. After a longer delay, this process was stopped, or the whole machine was:
other processes had perhaps no more time than this one, and their deadlines move."""

_ROUNDING = 1e-6
"""Seconds within which two times are the same."""


class Timers:
    """Actions by due time, counted without the time in which this process didn't run.

    This class never waits: the loop asks when to call `run_due`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.lost = 0.0
        """Seconds in which this process should have run and didn't."""
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    @property
    def awake(self) -> float:
        """Seconds on the clock without the lost ones: the time that deadlines count."""
        return self.clock() - self.lost

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Run `action` in `delay` seconds. It can't be cancelled: the action checks for itself if it is still
        wanted."""
        heapq.heappush(self._due, (self.awake + delay, next(self._numbers), action))

    def wake(self, delay: float) -> None:
        """Wake the loop in `delay` seconds: the lifecycle reconciles then."""
        self.after(delay, lambda: None)

    def run_due(self) -> None:
        """Run the actions that are due now. One that becomes due meanwhile waits for the next call: slow actions don't
        keep the loop from its events."""
        if self._due and (late := self.awake - self._due[0][0]) > LATE:
            self.lost += late
        now = self.awake + _ROUNDING
        while self._due and self._due[0][0] <= now:
            heapq.heappop(self._due)[2]()

    @property
    def next(self) -> float | None:
        """Due time of the next action in monotonic seconds."""
        return self._due[0][0] + self.lost if self._due else None
