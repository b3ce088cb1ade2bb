"""The role of the process that makes books: started when a front has jobs, and gone when none is left."""

from __future__ import annotations

import msgspec

from shm.messages import BooksNews
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery
from supervisor.processes.role import Role, RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings


class BookMakers:
    """One process at most. Its death concerns no other process: the next one continues from the jobs' folder."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("books", settings, nursery, timers)
        self._fronts = fronts
        self._nursery = nursery
        self._news: BooksNews | None = None
        """The last news, with the address and the key of the front that serves."""
        self._wanted = False
        """True if there is news that no process has dealt with."""
        self._told: tuple[int, int] | None = None
        """Generation that has the last news, and the number of that news."""
        self._allowed = True

    def news(self, sender: Incarnation, message: BooksNews) -> None:
        """Handle a front's message that jobs were added or removed, or that it serves now."""
        number = self._news.number + 1 if self._news else 1
        if self._news and sender in self._fronts.role.draining.values():
            # That front refuses new requests: the address and the key of its successor stay.
            message = msgspec.structs.replace(self._news, wanted=message.wanted)
        self._news = msgspec.structs.replace(message, number=number)
        self._wanted |= message.wanted
        if message.wanted and self.role.state is RoleState.FATAL:
            self.role.become(RoleState.STOPPED, "tried again for new jobs")

    def idle(self, seen: int) -> None:
        """Handle the process's message that it ends because nothing is left to make."""
        if self._news and seen == self._news.number:
            self._wanted = False

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped process. Status 0 is the end of an idle one."""
        if status == 0 and child is self.role.process and self.role.state is RoleState.RUNNING:
            self.role.finished()
        else:
            self.role.exited(child, status)

    def reconcile(self) -> None:
        """Start the process if it is wanted or died, and pass the news on to it."""
        role, news = self.role, self._news
        if self._allowed and (role.start_due or (self._wanted and role.state is RoleState.STOPPED)):
            role.start(self._nursery.start("books"))
        if role.state is RoleState.RUNNING and role.process and news:
            told = (role.process.generation, news.number)
            if told != self._told:
                self._told = told
                role.process.send(news)

    def renew(self) -> None:
        """Let a process with new settings continue."""
        if self.role.process:
            self._wanted = True
            self._nursery.end(self.role.process)

    @property
    def reason(self) -> str:
        """The reason why no process is started any more; empty if one can be."""
        return self.role.reason if self.role.state is RoleState.FATAL else ""

    def stop(self) -> None:
        """End the process, because no front is left. Idempotent."""
        self._allowed = False
        self.role.stop(KILL_GRACE)
