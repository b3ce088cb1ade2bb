"""The front that stands by: it has imported and loaded everything, and waits to take another one's place at once."""

from __future__ import annotations

import logging

from shm.messages import StandBy
from supervisor.processes.children import Incarnation, Nursery
from supervisor.processes.role import Role
from supervisor.processes.timers import Timers

log = logging.getLogger(__name__)

BACKOFF = 5.0
"""Seconds after which a standby that failed is replaced."""

PAUSE = 0.3
"""Seconds for which a front that has taken over has the cores to itself, before the next standby is started."""


class StandbyFront:
    """One process at most. A front that was never told a situation serves nobody, so that this one differs from the
    front that serves only in what it was told."""

    def __init__(self, on: bool, nursery: Nursery, timers: Timers) -> None:
        """`on`: False if there is to be none."""
        self.process: Incarnation | None = None
        self._on = on
        self._nursery = nursery
        self._timers = timers
        self._not_before = 0.0

    def take(self, _role: Role) -> Incarnation:
        """A process for the front's role: the standby, even one that is still starting, or a new one."""
        child, self.process = self.process, None
        self._wait(PAUSE)
        return child or self._nursery.start("front")

    def _wait(self, seconds: float) -> None:
        self._not_before = self._timers.clock() + seconds
        self._timers.wake(seconds)

    def refill(self, english: bool) -> None:
        """Start a standby if there is none, and tell it what it will need. `english`: to pronounce English."""
        if self._on and self.process is None and self._timers.clock() >= self._not_before:
            self.process = self._nursery.start("front")
        if self.process and self.process.able:
            message = StandBy(english)
            if self.process.told.get(StandBy) != message:
                self.process.told[StandBy] = message
                self.process.send(message)

    def fails(self, child: Incarnation, how: str) -> bool:
        """Note that this process has ended or hangs; returns False if it isn't the standby."""
        if child is not self.process:
            return False
        log.error("the standby front[%d] has failed: %s", child.generation, how)
        self.process = None
        self._wait(BACKOFF)
        return True

    def drop(self) -> None:
        """End the standby: its settings are out of date, or the server ends."""
        if self.process:
            self.process.kill()
            self.process = None
