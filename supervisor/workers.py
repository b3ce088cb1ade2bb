"""The worker's role: the one that speaks, a standby, a successor that loads, and those that finish or are condemned."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from shm.messages import ControlMessage, Disconnect, Load, ProviderFailure, Ready
from supervisor.exit_codes import ExitCode
from supervisor.incarnation import Incarnation
from supervisor.nursery import KILL_GRACE, Nursery, ended
from supervisor.service import Service, State
from supervisor.settings import SupervisorSettings
from supervisor.timers import Timers

log = logging.getLogger(__name__)

DUMP_GRACE = 0.2
"""Seconds that a worker which hangs has to write its stacks to the log before it is killed. Nobody waits for it."""

STANDBY_BACKOFF = 5.0
"""Seconds after which a standby that died is replaced."""


class WorkersHost(Protocol):
    """What the workers need of the rest of the house."""

    def connect(self, worker: Incarnation) -> None:
        """Join it to every front by a channel."""
        ...

    def fronts(self) -> set[int]:
        """The generations of the fronts that follow messages."""
        ...

    def tell_fronts(self, message: ControlMessage) -> None: ...

    def report(self) -> None:
        """Tell the fronts how things stand."""
        ...

    def give_up(self, code: ExitCode) -> None:
        """End the server."""
        ...


@dataclass(eq=False)
class _Retired:
    """A worker that finishes its streams."""

    child: Incarnation
    awaited: set[int]
    """Fronts that haven't said yet that they have nothing left there."""


class Workers:
    """Brings up the next worker when it is needed, or before."""

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers, host: WorkersHost) -> None:
        self.service = Service("worker", settings)
        self.provider_failures: dict[str, str] = {}
        self._settings = settings
        self._nursery = nursery
        self._timers = timers
        self._host = host
        self._standby: Incarnation | None = None
        self._successor: Incarnation | None = None
        self._retired: dict[int, _Retired] = {}
        self._condemned: set[int] = set()
        self._wanted = True
        self._spares_wanted = True

    # -- coming up

    def start(self) -> None:
        """Bring up a worker: the one that is loading or standing by, or a new one."""
        if not self._wanted:
            return
        self.service.become(State.STARTING, "the worker is starting")
        self._host.report()
        child = self._successor or self._standby or self._nursery.start("worker")
        already_loading = child is self._successor
        if child is self._standby:
            self._standby = None
        self._successor = None
        self.service.process = child
        if child.ready:
            self._serves(child)
        elif not already_loading:
            self._load(child)

    def _load(self, child: Incarnation) -> None:
        child.send(Load(tuple(self.provider_failures), standby=child is self._standby))

    def ready(self, child: Incarnation, ready: Ready) -> None:
        """Its engine is loaded. A standby's is kept until it is needed."""
        child.ready = ready
        log.info(
            "worker[%d] is ready after %.2f s: %s on %s",
            child.generation,
            ready.load_seconds,
            ready.engine.name,
            ready.engine.provider,
        )
        if child is self.service.process and self.service.state is State.STARTING:
            self._serves(child)
        elif child is self._successor:
            self._take_over(child)

    def _serves(self, child: Incarnation) -> None:
        self.service.become(State.RUNNING)
        self._host.connect(child)
        self._host.report()
        self._refill_standby()

    def _refill_standby(self) -> None:
        mode = self._settings.standby
        busy = self._standby or self._successor or self.service.state is not State.RUNNING
        if mode == "off" or busy or not self._spares_wanted:
            return
        self._standby = self._nursery.start("worker")
        if mode == "loaded":
            self._load(self._standby)

    # -- being replaced

    def replace(self, why: str, fresh: bool) -> None:
        """Bring up another generation beside the one that speaks, which goes on until then.

        `fresh`: what stands by was started under other settings, or before the model's files were there.
        """
        if fresh and self._standby:
            self._condemn(self._standby)
            self._standby = None
        if self.service.state is not State.RUNNING or self._successor or not self._spares_wanted:
            return
        log.info("bringing up another worker: %s", why)
        child = self._standby or self._nursery.start("worker")
        self._standby = None
        self._successor = child
        if child.ready:
            self._take_over(child)
        else:
            self._load(child)

    def _take_over(self, successor: Incarnation) -> None:
        old = self.service.process
        self._successor, self.service.process = None, successor
        if self.service.state is not State.RUNNING:
            if self.service.state is not State.STARTING:
                self.service.become(State.STARTING)
            self.service.become(State.RUNNING)
        self._host.connect(successor)  # first: whoever lets go of the old one has the new one already
        if old is not None:
            self._retired[old.generation] = _Retired(old, self._host.fronts())
            self._host.tell_fronts(Disconnect(old.generation, draining=True))
            self._end_if_idle(old.generation)
        self._host.report()
        self._refill_standby()

    @property
    def others(self) -> Iterator[tuple[Incarnation, str, str]]:
        """Those beside the one that speaks, each with its role and state for people."""
        if self._standby:
            yield self._standby, "standby", "loaded" if self._standby.ready else "imported"
        if self._successor:
            yield self._successor, "worker", State.STARTING
        yield from ((retired.child, "worker", "draining") for retired in self._retired.values())

    @property
    def replacing(self) -> bool:
        """A successor is coming up."""
        return self._successor is not None

    def idle(self, front: int, generation: int) -> None:
        """That front has nothing left with that generation."""
        if retired := self._retired.get(generation):
            retired.awaited.discard(front)
            self._end_if_idle(generation)

    def front_gone(self, front: int) -> None:
        for generation in list(self._retired):
            self.idle(front, generation)

    def _end_if_idle(self, generation: int) -> None:
        retired = self._retired[generation]
        if not retired.awaited:
            self._nursery.end(retired.child)

    # -- going wrong

    def boot_failure(self, child: Incarnation, reason: str) -> None:
        """It can't start, and starting again would not help."""
        log.error("%s", reason)
        if child is self.service.process:
            self.service.become(State.FATAL, reason)
            self._host.report()
            self._nursery.kill_after(child, KILL_GRACE)
            if not self.service.ever_ran:
                self._host.give_up(ExitCode.ENGINE)

    def provider_failure(self, child: Incarnation, failure: ProviderFailure) -> None:
        """An execution provider doesn't work: the next generation starts without it, at once."""
        log.error("%s is given up: %s", failure.provider, failure.reason)
        self.provider_failures[failure.provider] = failure.reason
        standby = self._standby
        if standby and standby is not child and standby.ready:
            self._condemn(standby)  # it has loaded on what doesn't work
            self._standby = None
        self._let_go(child)
        if child is self.service.process:
            self.service.process = None
            self.service.become(State.BACKOFF, f"{failure.provider} doesn't work; going on without it")
            self._host.report()
            self._timers.after(0.0, self._start_if_due)

    def distrusted(self, generation: int, reason: str) -> None:
        """A front says that this worker hangs or broke its contract: replaced at once, then killed and reaped."""
        child = self.service.process
        if child is not None and child.generation == generation:
            log.error("ending worker[%d]: %s", generation, reason)
            self._condemn(child)
            self._lost(reason)
        elif retired := self._retired.pop(generation, None):
            self._condemn(retired.child)

    def _condemn(self, child: Incarnation) -> None:
        child.dump_stacks()
        self._let_go(child)

    def _let_go(self, child: Incarnation) -> None:
        self._condemned.add(child.generation)
        self._nursery.kill_after(child, DUMP_GRACE)

    def exited(self, child: Incarnation, status: int) -> None:
        """It has ended and was reaped."""
        self.service.saw_exit(ended(status), self._timers.clock())
        if child is self.service.process:
            self._host.tell_fronts(Disconnect(child.generation))
            self._lost(ended(status))
        elif child is self._standby:
            self._standby = None
            log.error("the standby worker[%d] ended with %s", child.generation, ended(status))
            self._timers.after(STANDBY_BACKOFF, self._refill_standby)
        elif child is self._successor:
            self._successor = None
            log.error("worker[%d], meant to take over, ended with %s", child.generation, ended(status))
            self._timers.after(STANDBY_BACKOFF, self._refill_standby)
        elif self._retired.pop(child.generation, None):
            self._host.tell_fronts(Disconnect(child.generation))
            log.info("worker[%d] has finished", child.generation)
        self._condemned.discard(child.generation)

    def _lost(self, how: str) -> None:
        service = self.service
        service.process = None
        if service.state is State.STOPPING:
            service.become(State.STOPPED)
        if service.state in (State.STOPPED, State.FATAL):
            return
        delay = service.after_death(self._timers.clock(), how)
        self._host.report()
        if delay is not None:
            self._timers.after(delay, self._start_if_due)

    def _start_if_due(self) -> None:
        if self.service.state is State.BACKOFF:
            self.start()

    # -- ending

    def stop_spares(self) -> None:
        """The server is to stop: nothing is brought up for later any more."""
        for child in (self._standby, self._successor):
            if child:
                self._let_go(child)
                child.kill()
        self._standby = self._successor = None
        self._spares_wanted = False

    def stop(self) -> None:
        """No front is left: end them all. Idempotent."""
        if not self._wanted:
            return
        self._wanted = False
        child = self.service.process
        if child and self.service.state in (State.STARTING, State.RUNNING):
            self.service.become(State.STOPPING)
            self._nursery.end(child)
        elif child is None and self.service.state is not State.STOPPED:
            self.service.become(State.STOPPED)
        for retired in self._retired.values():
            self._nursery.end(retired.child)
