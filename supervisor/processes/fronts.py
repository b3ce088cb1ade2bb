"""The front's role: the one that accepts requests, a successor that starts, and those that finish their streams."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Protocol

from shm.messages import ControlMessage
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery, ended
from supervisor.processes.process_list import Beside
from supervisor.processes.service import Service, State
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


class FrontsHost(Protocol):
    """What the fronts need of the rest of the house."""

    def introduce(self, front: Incarnation) -> None:
        """Give it a channel to each worker that speaks, and tell it how things stand."""
        ...

    def front_gone(self, generation: int) -> None: ...

    def give_up(self, code: ExitCode) -> None: ...


class Fronts:
    """Every front that follows messages hears all that is told to fronts."""

    def __init__(
        self,
        settings: SupervisorSettings,
        drain_timeout: Callable[[], float],
        nursery: Nursery,
        timers: Timers,
        host: FrontsHost,
    ) -> None:
        self.service = Service("front", settings)
        self._drain_timeout = drain_timeout
        self._nursery = nursery
        self._timers = timers
        self._host = host
        self._successor: Incarnation | None = None
        self._draining: dict[int, Incarnation] = {}
        self._wanted = True

    def start(self) -> None:
        if self._wanted:
            self.service.become(State.STARTING, "the front is starting")
            self.service.process = self._nursery.start("front")

    def started(self, child: Incarnation) -> None:
        """It follows messages."""
        if not self._wanted:
            return
        if child is self._successor:
            old = self.service.process
            self._successor, self.service.process = None, child
            if self.service.state is not State.RUNNING:  # the old one has died meanwhile
                if self.service.state is not State.STARTING:
                    self.service.become(State.STARTING)
                self.service.become(State.RUNNING)
            self._host.introduce(child)
            if old is not None:
                self._draining[old.generation] = old
                self._nursery.end(old, self._drain_timeout() + KILL_GRACE)
        elif child is self.service.process and self.service.state is State.STARTING:
            self.service.become(State.RUNNING)
            self._host.introduce(child)

    def replace(self, why: str) -> None:
        """Bring up another front on the same socket; the present one then finishes its streams."""
        if self.service.state is State.RUNNING and not self._successor:
            log.info("bringing up another front: %s", why)
            self._successor = self._nursery.start("front")

    @property
    def replacing(self) -> bool:
        """A successor is coming up."""
        return self._successor is not None

    @property
    def others(self) -> Iterator[Beside]:
        """Those beside the one that accepts."""
        if self._successor:
            yield Beside(self._successor, "front", State.STARTING)
        yield from (Beside(child, "front", "draining") for child in self._draining.values())

    @property
    def listening(self) -> Iterator[Incarnation]:
        """Those that follow messages. One that drains needs a worker until its last stream has ended."""
        if self.service.process and self.service.state in (State.RUNNING, State.STOPPING):
            yield self.service.process
        yield from self._draining.values()

    def tell(self, message: ControlMessage) -> None:
        for front in list(self.listening):
            self.send(front, message)

    def send(self, front: Incarnation, message: ControlMessage, fds: tuple[int, ...] = ()) -> None:
        if not front.send(message, fds):
            log.error("front[%d] doesn't listen: ending it", front.generation)
            front.kill()

    def exited(self, child: Incarnation, status: int) -> None:
        """It has ended and was reaped."""
        self.service.saw_exit(ended(status), self._timers.clock())
        if child is self._successor:
            self._successor = None
            log.error("front[%d], meant to take over, ended with %s", child.generation, ended(status))
            return
        if self._draining.pop(child.generation, None):
            log.info("front[%d] has finished", child.generation)
        elif child is self.service.process:
            self.service.process = None
            self._lost(ended(status))
        self._host.front_gone(child.generation)

    def _lost(self, how: str) -> None:
        if self.service.state is State.STOPPING:
            self.service.become(State.STOPPED)
            return
        delay = self.service.after_death(self._timers.clock(), how)
        if delay is None:
            self._host.give_up(ExitCode.CRASH_LOOP)
        else:
            self._timers.after(delay, self._start_if_due)

    def _start_if_due(self) -> None:
        if self.service.state is State.BACKOFF:
            self.start()

    def stop(self) -> None:
        """Let streams finish within the drain timeout."""
        self._wanted = False
        if self._successor:
            self._successor.kill()
        front = self.service.process
        if front and self.service.state is State.RUNNING:
            self.service.become(State.STOPPING)
            self._nursery.end(front, self._drain_timeout() + KILL_GRACE)
        elif front:
            self.service.become(State.STOPPING)
            front.kill()  # it hasn't accepted anything yet
        elif self.service.state is not State.STOPPED:
            self.service.become(State.STOPPED)

    @property
    def gone(self) -> bool:
        """No front is left, not even one that drains."""
        return not (self.service.process or self._successor or self._draining)
