"""The standby: one worker that waits for another one's death, in whichever slot that happens."""

from __future__ import annotations

from shm.messages import Load
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

BACKOFF = 5.0
"""Seconds after which a standby that died, or was dropped, is replaced."""


class Standby:
    """The standby process. It has imported its libraries and fits any slot; or it has loaded the model too, as slot 0
    would."""

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers) -> None:
        self._mode = settings.standby
        self._nursery = nursery
        self._timers = timers
        self._not_before = 0.0
        self._told_to_load = False
        self.process: Incarnation | None = None

    @property
    def state(self) -> str:
        """The standby's state, for people."""
        return "loaded" if self.process and self.process.ready else "imported"

    @property
    def was_told_to_load(self) -> bool:
        return self.process is not None and self._told_to_load

    def refill(self, load: Load, resting: bool) -> Incarnation | None:
        """Start a standby if there is none and its time has come; returns the process if it loads now.

        Args:
            load: the message for a standby that is to load.
            resting: the workers rest, so the standby holds no model either.
        """
        if self._mode == "off" or self.process or self._timers.clock() < self._not_before:
            return None
        self.process = self._nursery.start("worker")
        self._told_to_load = self._mode == "loaded" and not resting
        if not self._told_to_load:
            return None
        self.process.send(load)
        return self.process

    def take(self, like_slot_0: bool) -> Incarnation | None:
        """Hand the standby over to the caller; returns None if there is none, or if it has loaded for a slot unlike the
        caller's."""
        if self.was_told_to_load and not like_slot_0:
            return None
        taken, self.process = self.process, None
        return taken

    def drop(self) -> None:
        """End the standby, because its settings are out of date."""
        if self.process:
            self._nursery.let_go(self.process)
            self.process = None

    def rest(self) -> None:
        """Start no standby for a while, after a process died that was not needed yet."""
        self._not_before = self._timers.clock() + BACKOFF
        self._timers.after(BACKOFF, lambda: None)  # wakes the loop, whose `tick` refills
