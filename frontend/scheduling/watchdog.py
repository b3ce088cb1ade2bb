"""Tells a worker that hangs (stopped, in an endless loop, in a driver that never returns) from one that has much to do.

A worker says when a lane takes up a block (`Began`), when a block is sealed, and when a segment has ended. What is due
next from it is expected within the time that the work should take, many times over, and a patience besides. A worker
that can't write because its listener's ring is full is not late, nor is one that has made a block ahead of its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment

FACTOR = 10.0
"""A block may take so many times as long as its whole segment should."""


class Watchdog:
    """Watches one link. `heads` are the segments that it must be working at: of each stream the first one there."""

    def __init__(
        self,
        link: Link,
        patience: float,
        heads: Callable[[Link], Iterable[tuple[PlannedSegment, float]]],
    ) -> None:
        """`heads` gives each segment with the seconds that its making should take."""
        self._link = link
        self._patience = patience
        self._heads = heads
        self._loop = asyncio.get_running_loop()
        self._last_sign = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def sign_of_life(self) -> None:
        """The worker said something, or was given its first segment after having none."""
        self._last_sign = self._loop.time()
        self._arm()

    def _arm(self) -> None:
        """Look when the worker is late. A timer that is too early for that looks again; one too late is replaced."""
        due = self._due()
        if due is not None and (self._timer is None or due < self._timer.when()):
            self.stop()
            self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        self._link.read()  # what has come while this process was busy
        due = self._due()
        if due is not None and due <= self._loop.time():
            self._link.lose("it hangs")
        else:
            self._arm()

    def _due(self) -> float | None:
        """When the worker is late; None while nothing is expected of it."""
        late = []
        for segment, seconds in self._heads(self._link):
            lease = segment.lease
            if lease is None or lease.sealed - lease.released >= lease.capacity:
                continue
            since = self._last_sign if segment.touched is None else segment.touched
            late.append(since + self._patience + FACTOR * seconds)
        return min(late, default=None)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
