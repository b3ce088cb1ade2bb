"""All children that are started and not reaped, whatever their role."""

from __future__ import annotations

import itertools
import logging
import signal

from shm.messages import Drain
from supervisor.processes.incarnation import Incarnation, Spawner
from supervisor.processes.timers import Timers

log = logging.getLogger(__name__)

KILL_GRACE = 2.0
"""Seconds beyond its own time limit after which a child that should end is killed."""

DUMP_GRACE = 0.2
"""Seconds that a hanging worker has to write its stacks to the log before it is killed. No other process waits for
it."""


class Nursery:
    """Starts and numbers children, and enforces the end of those that should end."""

    def __init__(self, spawn: Spawner, timers: Timers) -> None:
        self._spawn = spawn
        self._timers = timers
        self._generations = itertools.count(1)
        self.children: list[Incarnation] = []

    def start(self, role: str, subject: str = "") -> Incarnation:
        """Start a child. `subject`: the execution provider that a trial tries."""
        child = self._spawn(role, next(self._generations), subject)
        child.started = self._timers.clock()
        self.children.append(child)
        log.info("started %s[%d], pid %d", role, child.generation, child.pid)
        return child

    def reap(self, child: Incarnation) -> int:
        """Reap a child whose end was reported, and return its exit status."""
        self.children.remove(child)
        return child.reap()

    def end(self, child: Incarnation, limit: float = KILL_GRACE, *, replaced: bool = False) -> None:
        """Ask the child to end; kill it if it can't be asked, or still runs after `limit` seconds.

        Repeated calls have no further effect.

        Args:
            replaced: another process has taken the child's place.
        """
        if child.ending:
            return
        child.ending = True
        if not child.send(Drain(replaced)):
            child.kill()
        self.kill_after(child, limit)

    def kill_after(self, child: Incarnation, delay: float = DUMP_GRACE) -> None:
        """Kill a child that is no longer needed, by default after the time that it may need to write its stacks."""
        self._timers.after(delay, lambda: child.kill() if child in self.children else None)


def ended(status: int) -> str:
    """A description of an exit status."""
    return signal.Signals(-status).name if status < 0 else f"status {status}"
