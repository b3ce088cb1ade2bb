"""One of the workers: the process that speaks, a successor that loads, and what happens when either dies."""

from __future__ import annotations

import logging
from typing import Protocol

from shm.messages import Disconnect, Ready
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery, ended
from supervisor.processes.service import Service, State
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)

DUMP_GRACE = 0.2
"""Seconds that a worker which hangs has to write its stacks to the log before it is killed. Nobody waits for it."""


class Crew(Protocol):
    """What a slot needs of the others."""

    def take(self, slot: Slot) -> Incarnation:
        """A process for it, which has been told to load, or has loaded."""
        ...

    def joins(self, slot: Slot) -> None:
        """Its process speaks: join it to the fronts."""
        ...

    def retire(self, slot: Slot, child: Incarnation) -> None:
        """Another has taken its place: it finishes its streams."""
        ...

    def disconnect(self, message: Disconnect) -> None:
        """Tell the fronts."""
        ...

    def report(self) -> None:
        """Its state has changed."""
        ...

    def settle(self) -> None:
        """It has come up: go on with what waits for that."""
        ...


class Slot:
    """Comes up, is replaced, dies and comes up again by itself; the others neither notice nor wait."""

    def __init__(self, number: int, settings: SupervisorSettings, nursery: Nursery, timers: Timers, crew: Crew) -> None:
        self.number = number
        self.service = Service("worker", settings)
        self.successor: Incarnation | None = None
        self.provider = ""
        """What its last engine ran on; empty before the first."""
        self._nursery = nursery
        self._timers = timers
        self._crew = crew
        self._wanted = True

    @property
    def is_coming_up(self) -> bool:
        """Something of it is about to speak."""
        return self.successor is not None or self.service.state in (State.STARTING, State.BACKOFF)

    # -- coming up

    def start(self) -> None:
        """Bring up a worker: the one that is loading or standing by, or a new one."""
        if not self._wanted:
            return
        self.service.become(State.STARTING, "the worker is starting")
        self._crew.report()
        child = self.successor or self._crew.take(self)
        self.successor = None
        self.service.process = child
        if child.ready:
            self._serves(child, child.ready)

    def ready(self, child: Incarnation, ready: Ready) -> None:
        """Its engine is loaded."""
        if child is self.service.process and self.service.state is State.STARTING:
            self._serves(child, ready)
        elif child is self.successor:
            self._take_over(child, ready)

    def _serves(self, child: Incarnation, ready: Ready) -> None:
        self.provider = ready.engine.provider
        self.service.become(State.RUNNING)
        self._crew.joins(self)
        self._crew.report()
        self._crew.settle()

    # -- being replaced

    def replace(self, why: str) -> None:
        """Bring up another generation beside the one that speaks, which goes on until then."""
        log.info("bringing up another worker: %s", why)
        self.successor = child = self._crew.take(self)
        if child.ready:
            self._take_over(child, child.ready)

    def drop_successor(self) -> None:
        """The one that loads would come up with what isn't true any more."""
        if self.successor:
            self.let_go(self.successor)
            self.successor = None

    def _take_over(self, successor: Incarnation, ready: Ready) -> None:
        old = self.service.process
        self.successor, self.service.process = None, successor
        self.provider = ready.engine.provider
        if self.service.state is not State.RUNNING:
            if self.service.state is not State.STARTING:
                self.service.become(State.STARTING)
            self.service.become(State.RUNNING)
        self._crew.joins(self)  # first: whoever lets go of the old one has the new one already
        if old is not None:
            self._crew.retire(self, old)
        self._crew.report()
        self._crew.settle()

    # -- going wrong

    def boot_failure(self, child: Incarnation, reason: str) -> None:
        """It can't start, and starting again would not help."""
        if child is self.service.process and self.service.state in (State.STARTING, State.RUNNING):
            self.service.become(State.FATAL, reason)
            self._crew.report()
            self._nursery.kill_after(child, KILL_GRACE)

    def gives_way(self, child: Incarnation, reason: str) -> None:
        """It ends, and is no crash: the next generation is started at once."""
        self._end(child)
        if child is self.service.process and self.service.state in (State.STARTING, State.RUNNING):
            self.service.process = None
            self.service.become(State.BACKOFF, reason)
            self._crew.report()
            self._timers.after(0.0, self._start_if_due)

    def condemn(self, child: Incarnation, reason: str) -> None:
        """It hangs, or broke its contract: replaced at once, then killed and reaped."""
        log.error("ending worker[%d]: %s", child.generation, reason)
        child.dump_stacks()
        self._end(child)
        if child is self.service.process:
            self._lost(reason)

    def _end(self, child: Incarnation) -> None:
        self.let_go(child)
        if child is self.successor:  # what it says until it is killed makes it no successor any more
            self.successor = None

    def let_go(self, child: Incarnation) -> None:
        """Nothing more is wanted of it."""
        self._nursery.kill_after(child, DUMP_GRACE)

    def exited(self, child: Incarnation, status: int) -> None:
        """It has ended and was reaped."""
        if child is self.service.process:
            self._crew.disconnect(Disconnect(child.generation))
            self._lost(ended(status))
        elif child is self.successor:
            self.successor = None
            log.error("worker[%d], meant to take over, ended with %s", child.generation, ended(status))

    def _lost(self, how: str) -> None:
        service = self.service
        service.process = None
        if service.state is State.STOPPING:
            service.become(State.STOPPED)
        if service.state in (State.STOPPED, State.FATAL):
            return
        delay = service.after_death(self._timers.clock(), how)
        self._crew.report()
        if delay is not None:
            self._timers.after(delay, self._start_if_due)

    def _start_if_due(self) -> None:
        if self.service.state is State.BACKOFF:
            self.start()

    # -- ending

    def stop(self) -> None:
        """No front is left."""
        self._wanted = False
        child = self.service.process
        if child and self.service.state in (State.STARTING, State.RUNNING):
            self.service.become(State.STOPPING)
            self._nursery.end(child)
        elif child is None and self.service.state is not State.STOPPED:
            self.service.become(State.STOPPED)
