"""Processes beside fronts and workers, while they have something to do: errands, the player and the maker of books.

Errands run once alongside the workers, to fetch the model or to try an execution provider. An errand that fails for a
temporary reason runs again after an hour, two hours, and so on up to a day. The other two are clients of the front.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from shm.lifeline import DONE, FAILED, NOTHING_NEW
from shm.messages import BooksNews, PlayerLink
from supervisor.processes.children import Incarnation, Nursery, ended
from supervisor.processes.fronts import Fronts
from supervisor.processes.role import Role, RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)

FIRST_RETRY, LAST_RETRY = 3600.0, 86_400.0
"""Shortest and longest delay in seconds before a failed errand is tried again."""


@dataclass(frozen=True, slots=True)
class Errand:
    role: str
    """The process's role: fetcher or trial."""
    why: str
    """The log's reason for replacing the worker after this errand."""
    meanwhile: str
    """The activity while the errand runs, for people."""
    timeout: float | None = None
    """Seconds after which the errand is killed."""
    subject: str = ""
    """The execution provider that a trial tries; empty for a fetcher."""
    again: bool = False
    """True if the errand is tried again after it was killed, took too long or ended without a result."""


@dataclass(slots=True)
class _Running:
    errand: Errand
    child: Incarnation
    era: int
    """The value of `Errands._era` when the errand was started."""
    overdue: bool = False
    """True once the errand was killed because it took too long."""


class Errands:
    """Runs errands, one at a time."""

    def __init__(self, nursery: Nursery, timers: Timers) -> None:
        self._nursery = nursery
        self._timers = timers
        self._waiting: deque[Errand] = deque()
        self._started: set[tuple[str, str]] = set()
        self._failures: Counter[tuple[str, str]] = Counter()
        self._era = 0
        """Incremented by each `forget`: errands of an earlier era aren't tried again."""
        self._running: _Running | None = None
        self._wanted = True

    def forget(self) -> None:
        """Forget finished errands, because the settings have changed. The next worker that comes up names the wanted
        errands."""
        self._era += 1
        self._waiting.clear()
        self._started.clear()
        self._failures.clear()

    def want(self, errands: Iterable[Errand]) -> None:
        """Run the errands that haven't run yet: at once, or after the one that runs."""
        known = self._started | {(errand.role, errand.subject) for errand in self._waiting}
        self._waiting += (errand for errand in errands if (errand.role, errand.subject) not in known)
        self._start_next()

    def _start_next(self) -> None:
        if self._running or not self._waiting or not self._wanted:
            return
        errand = self._waiting.popleft()
        self._started.add((errand.role, errand.subject))
        child = self._nursery.start(errand.role, errand.subject)
        running = self._running = _Running(errand, child, self._era)

        def expire() -> None:
            if self._running is running:
                running.overdue = True
                child.kill()

        if errand.timeout is not None:
            self._timers.after(errand.timeout, expire)

    @property
    def running(self) -> tuple[Errand, Incarnation] | None:
        return (self._running.errand, self._running.child) if self._running else None

    def exited(self, status: int) -> str:
        """Handle the end of the running errand's reaped process; returns the errand's `why` if it changed
        something."""
        assert self._running is not None
        errand, era, overdue = self._running.errand, self._running.era, self._running.overdue
        self._running = None
        why = ""
        if status == DONE and self._wanted:
            self._waiting.clear()  # the worker that comes up next names the errands that are still wanted
            why = errand.why
        elif overdue:
            log.warning("%s: ended after %g s, nothing changes", errand.meanwhile, errand.timeout)
        elif status != NOTHING_NEW and self._wanted:
            log.warning("%s: ended with %s, nothing changes", errand.meanwhile, ended(status))
        if errand.again and status in (FAILED, -signal.SIGKILL) and era == self._era and self._wanted:
            self._try_later(errand)
        self._start_next()
        return why

    def _try_later(self, errand: Errand) -> None:
        about, era = (errand.role, errand.subject), self._era
        delay = min(FIRST_RETRY * 2 ** self._failures[about], LAST_RETRY)
        self._failures[about] += 1
        log.info("%s: again in %g h", errand.meanwhile, delay / 3600)

        def retry() -> None:
            if era == self._era:
                self._started.discard(about)
                self.want((errand,))

        self._timers.after(delay, retry)

    def stop(self) -> None:
        """Kill the running errand and start no more, because the server ends."""
        self._wanted = False
        if self._running:
            self._running.child.kill()


class Players:
    """The player's role: one process at most, and its channel to the front."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("player", settings, nursery, timers)
        self._fronts = fronts
        self._linked: tuple[Incarnation, Incarnation] | None = None
        """The front and the player that share a channel."""

    def reconcile(self) -> None:
        role, front = self.role, self._fronts.role
        role.start_if_due()
        if role.state is RoleState.RUNNING and front.state is RoleState.RUNNING and role.process and front.process:
            pair = (front.process, role.process)
            if pair != self._linked:
                self._linked = pair
                role.wanted = False
                self._link(*pair)

    def _link(self, front: Incarnation, player: Incarnation) -> None:
        ends = socket.socketpair()
        descriptors = [end.detach() for end in ends]
        try:
            player.send(PlayerLink(), descriptors[:1])
            self._fronts.send_to_front(front, PlayerLink(), (descriptors[1],))
        finally:
            for fd in descriptors:
                os.close(fd)


class BookMakers:
    """The role of the process that makes books: one at most. After its death the next one continues from the jobs'
    folder."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("books", settings, nursery, timers)
        self._fronts = fronts
        self._nursery = nursery
        self._news: BooksNews | None = None
        """The last news, with the address and the key of the front that serves."""
        self._told: tuple[Incarnation, int] | None = None
        """The process that has the last news, and the number of that news."""

    def news(self, sender: Incarnation, message: BooksNews) -> None:
        """Handle a front's message that jobs were added or removed, or that it serves now."""
        number = self._news.number + 1 if self._news else 1
        if self._news and sender in self._fronts.role.draining:
            # A replaced front refuses new requests: the address and the key of its successor stay.
            message = msgspec.structs.replace(self._news, wanted=message.wanted)
        self._news = msgspec.structs.replace(message, number=number)
        if message.wanted:
            self.role.want()

    def idle(self, seen: int) -> None:
        """Handle the process's message that it ends because nothing is left to make."""
        if self._news and seen == self._news.number:
            self.role.wanted = False

    def renew(self) -> None:
        """Let a process with new settings continue."""
        if self.role.process:
            self.role.wanted = True
            self._nursery.end(self.role.process)

    def reconcile(self) -> None:
        role, news = self.role, self._news
        role.start_if_due()
        if role.state is RoleState.RUNNING and role.process and news:
            told = (role.process, news.number)
            if told != self._told:
                self._told = told
                role.process.send(news)
