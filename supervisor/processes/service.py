"""The state of one supervised role, with the transitions that are possible asserted."""

from __future__ import annotations

import logging
from enum import StrEnum

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.restarts import RestartWindow
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


class State(StrEnum):
    STARTING = "starting"
    """Its process exists and has not said that it serves."""
    RUNNING = "running"
    BACKOFF = "backoff"
    """It died; the next start is due soon."""
    STOPPING = "stopping"
    STOPPED = "stopped"
    FATAL = "fatal"
    """It isn't started again by itself; `Service.reason` says why."""


_TRANSITIONS = {
    State.STARTING: {State.RUNNING, State.BACKOFF, State.STOPPING, State.FATAL},
    State.RUNNING: {State.BACKOFF, State.STOPPING, State.FATAL},
    State.BACKOFF: {State.STARTING, State.STOPPED},
    State.STOPPING: {State.STOPPED},
    State.STOPPED: {State.STARTING},
    State.FATAL: {State.STARTING, State.STOPPED},
}


class Service:
    """The front or the worker: one role, whose processes come and go."""

    def __init__(self, role: str, settings: SupervisorSettings) -> None:
        self.role = role
        self.state = State.STOPPED
        self.reason = "not started"
        self.process: Incarnation | None = None
        self.restarts = 0
        self.last_exit = ""
        """How the last of its processes to end did; empty while none has."""
        self.last_exit_at: float | None = None
        """Monotonic seconds."""
        self.ever_ran = False
        self._window = RestartWindow(settings.max_deaths, settings.death_window)

    def become(self, state: State, reason: str = "") -> None:
        """Change state; `reason` is what `/ready` shows while nothing can speak."""
        assert state in _TRANSITIONS[self.state], f"{self.role}: {self.state} -> {state}"
        self.state = state
        self.reason = reason
        self.ever_ran |= state is State.RUNNING

    def saw_exit(self, how: str, now: float) -> None:
        """One of its processes has ended, whether that was wanted or not."""
        self.last_exit, self.last_exit_at = how, now

    def after_death(self, now: float, how: str) -> float | None:
        """Its process died: BACKOFF and the seconds until the next start, or FATAL and None."""
        delay = self._window.after_death(now)
        if delay is None:
            self.become(State.FATAL, f"the {self.role} keeps dying (last: {how}); see the log")
            log.critical("%s", self.reason)
        else:
            log.error("the %s died (%s); starting it again in %g s", self.role, how, delay)
            self.restarts += 1
            self.become(State.BACKOFF, f"the {self.role} is being restarted")
        return delay
