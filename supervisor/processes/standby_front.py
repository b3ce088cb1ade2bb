"""The front that stands by: it has loaded everything, and waits to take another one's place at once. On Linux it is
forked from a template, and so is every front."""

from __future__ import annotations

import logging

from shm.messages import StandBy
from supervisor.processes.children import Incarnation, Nursery
from supervisor.processes.role import Role
from supervisor.processes.timers import Timers

log = logging.getLogger(__name__)

BACKOFF = 5.0
"""Seconds after which a standby or a template that failed is replaced."""

PAUSE = 0.3
"""Seconds for which a front that has taken over has the cores to itself, before the next standby is started."""

LOAD_LIMIT = 20.0
"""Seconds for which a front waits for its template; then it is started without one."""


class StandbyFront:
    """One process at most, and its template. A front that was never told a situation serves nobody, so that this one
    differs from the front that serves only in what it was told."""

    def __init__(self, on: bool, nursery: Nursery, timers: Timers, *, forks: bool) -> None:
        """
        Args:
            on: False if there is to be none.
            forks: it is forked from a template.
        """
        self.process: Incarnation | None = None
        self.template: Incarnation | None = None
        self._on = on
        self._forks = on and forks
        self._nursery = nursery
        self._timers = timers
        self._not_before = self._no_template_before = 0.0

    @property
    def is_awaited(self) -> bool:
        """True while a front that is to be started waits for its template."""
        template = self.template
        return template is not None and not template.able and self._timers.clock() < template.started + LOAD_LIMIT

    def prepare(self) -> None:
        """Start a template if there is none."""
        if self._forks and self.template is None and self._timers.clock() >= self._no_template_before:
            self.template = self._nursery.start("template")
            self._timers.wake(LOAD_LIMIT)

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
        if self._on and self.process is None and self._timers.clock() >= self._not_before and not self.is_awaited:
            self.process = self._nursery.start("front")
        if self.process and self.process.able:
            message = StandBy(english)
            if self.process.told.get(StandBy) != message:
                self.process.told[StandBy] = message
                self.process.send(message)

    def fails(self, child: Incarnation, how: str) -> bool:
        """Note that this process has ended or hangs; returns False if it is neither the standby nor its template."""
        if child is self.template:
            log.error("the fronts' template has failed: %s", how)
            self.template = None
            self._no_template_before = self._timers.clock() + BACKOFF
            self._timers.wake(BACKOFF)
        elif child is self.process:
            log.error("the standby front[%d] has failed: %s", child.generation, how)
            self.process = None
            self._wait(BACKOFF)
        else:
            return child.role == "template"
        child.able = False
        return True

    def stop(self) -> None:
        """End both, for good."""
        self._on = self._forks = False
        self.drop()

    def drop(self) -> None:
        """End both: their settings are out of date, or the server ends."""
        for child in (self.process, self.template):
            if child:
                child.able = False
                child.kill()
        self.process = self.template = None
