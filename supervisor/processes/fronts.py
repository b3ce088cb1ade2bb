"""The front's role, and the messages that every front needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from shm.messages import ControlMessage
from shm.situation import Situation
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery
from supervisor.processes.role import Role, RoleState
from supervisor.processes.suspect_texts import SuspectTexts
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


class Fronts:
    """The front that accepts requests, its successor, and those that finish their streams."""

    def __init__(
        self, settings: SupervisorSettings, drain_timeout: Callable[[], float], nursery: Nursery, timers: Timers
    ) -> None:
        """`drain_timeout`: seconds that streams have to finish, read from the present settings at each call."""
        self.role = Role("front", settings, nursery, timers)
        self._drain_timeout = drain_timeout
        self._nursery = nursery
        self._suspects = SuspectTexts(timers.clock)
        self.cleared = self._suspects.cleared
        self.streams_cut = 0
        """Answers that ended in the middle because their front died."""
        self._told: dict[tuple[int, type], ControlMessage] = {}
        """The last message of each kind sent to each front, by generation and kind."""

    def start(self) -> None:
        self.role.start(self._nursery.start("front"))

    def replace(self, why: str) -> None:
        """Start another front on the same socket; the present one finishes its streams once the new one serves."""
        if self.role.state is RoleState.RUNNING and not self.role.successor:
            self.role.replace(self._nursery.start("front"), why)

    def exited(self, child: Incarnation, status: int, asked: bool) -> None:
        """Handle the end of a reaped front. `asked`: it was told to end."""
        for told in [told for told in self._told if told[0] == child.generation]:
            del self._told[told]
        self.streams_cut += child.in_flight.begun
        if status and not asked:
            self._suspects.front_died(child.in_flight, status)
        self.role.exited(child, status)

    def start_if_due(self) -> None:
        if self.role.start_due:
            self.role.start(self.role.successor or self._nursery.start("front"))

    def end_predecessors(self) -> None:
        """Let fronts that another one has replaced finish their streams and end."""
        for child in self.role.draining.values():
            self._nursery.end(child, self._drain_timeout() + KILL_GRACE, replaced=True)

    def stop(self) -> None:
        """Let streams finish within the drain timeout. A starting front has accepted none."""
        running = self.role.state is RoleState.RUNNING
        self.role.stop(self._drain_timeout() + KILL_GRACE if running else 0.0)

    @property
    def gone(self) -> bool:
        """True if no front is left, not even a draining one."""
        return not (self.role.process or self.role.successor or self.role.draining)

    @property
    def finishing(self) -> bool:
        """True if fronts that another one has replaced, or is about to replace, have streams to finish."""
        return bool(self.role.successor or self.role.draining)

    # -- messages to fronts

    @property
    def listening(self) -> Iterator[Incarnation]:
        """Fronts that follow messages. A draining front needs a worker until its last stream has ended."""
        if self.role.process and self.role.state in (RoleState.RUNNING, RoleState.STOPPING):
            yield self.role.process
        yield from self.role.draining.values()

    def tell_all(self, situation: Situation) -> None:
        """Send each front the messages that it lacks. A front accepts requests after its first situation."""
        for front in list(self.listening):
            for message in (self._suspects.message, situation):
                told = front.generation, type(message)
                if self._told.get(told) != message:
                    self._told[told] = message
                    self.send(front, message)

    def tell(self, generation: int, message: ControlMessage) -> None:
        """Send a message to the front of that generation, if it still exists."""
        for front in list(self.listening):
            if front.generation == generation:
                self.send(front, message)

    def send(self, front: Incarnation, message: ControlMessage, fds: tuple[int, ...] = ()) -> None:
        if not front.send(message, fds):
            log.error("front[%d] doesn't listen: ending it", front.generation)
            front.kill()
