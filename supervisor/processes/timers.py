"""Things to do later, on a clock that is given."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class Timers:
    """Actions by the moment at which they are due. Nothing waits here: the loop asks when to call `run_due`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Do `action` in `delay` seconds. It can't be called off: it looks for itself whether it still makes sense."""
        heapq.heappush(self._due, (self.clock() + delay, next(self._numbers), action))

    def run_due(self) -> None:
        while self._due and self._due[0][0] <= self.clock():
            heapq.heappop(self._due)[2]()

    @property
    def next(self) -> float | None:
        """Monotonic seconds of the next action."""
        return self._due[0][0] if self._due else None
