"""The supervisor's decisions: when processes are started, restarted and stopped. The module makes no system calls;
processes and the clock are passed in.

Handlers are called by one thread, one event at a time: `message`, `exited`, `signal`, and `tick` at `next_wakeup`. Each
handler records its event, and then one `_reconcile` acts on the difference between the actual and the wanted state.
`exit_code` is set when no work is left.
"""

from __future__ import annotations

import logging
import math
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from shm.memory import NoMemory
from shm.messages import (
    BooksIdle,
    BooksNews,
    BootFailure,
    ChildProgress,
    ChildReady,
    Cleared,
    ControlMessage,
    Distrust,
    Heartbeat,
    Idle,
    Loading,
    Placed,
    PlayerWanted,
    ProviderFailure,
    Recycle,
    Started,
    WorkersNeeded,
)
from shm.situation import Situation, TuningState
from supervisor.processes.children import KILL_GRACE, Incarnation, Nursery, Spawner
from supervisor.processes.errands import BookMakers, Errand, Errands, Players
from supervisor.processes.fronts import Fronts
from supervisor.processes.heartbeats import Heartbeats
from supervisor.processes.role import Role, RoleState
from supervisor.processes.standing import (
    ExitCode,
    Phase,
    Spare,
    Standing,
    best,
    hopeless,
    phase,
    reports,
    returning,
    speaking,
    summary,
    voice,
)
from supervisor.processes.timers import Timers
from supervisor.processes.workers import Workers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)

SUCCEEDED = 86_400.0
"""Seconds that the answers of a server have whose place another version has taken: nothing waits for their end, and
clients that read nothing are cut by `--write-timeout`."""


class Changes(NamedTuple):
    """The processes whose settings a reload has changed."""

    front: bool
    worker: bool


class Outside:
    """A program without reload and errands. `serve` overrides these methods."""

    answer_limit = math.inf
    """Seconds within which `answers` has to be called again."""
    forks = sys.platform == "linux"
    """True if fronts are forked from a template where one stands by."""

    def answers(self) -> None:
        """Note that the front answers, or that none serves at the moment: starts and ends have limits of their own."""

    def errands(self, ready: ChildReady) -> Sequence[Errand]:
        """The errands that are due now that this engine speaks. `Errands` runs none of them twice."""
        return ()

    def tuning(self) -> TuningState | None:
        """The state of tuning's profile; None for a program without tuning."""
        return None

    def announce(self, ready: ChildReady) -> None: ...

    def stands(self, standing: Standing) -> None:
        """Note a change of the server's overall standing."""

    def situation(self, situation: Situation) -> None:
        """Note a change in the processes' situation."""

    def stop_listening(self) -> None: ...

    def is_outdated(self) -> bool:
        """True if another version is installed than the one that runs."""
        return False

    def update(self) -> None:
        """Have the installed version take this one's place."""

    def reload(self) -> Changes:
        """Read the settings again; children started from now on get the new ones."""
        return Changes(False, False)

    def drain_timeout(self) -> float:
        return 30.0


class Lifecycle:
    def __init__(
        self, settings: SupervisorSettings, spawn: Spawner, clock: Callable[[], float], outside: Outside
    ) -> None:
        self._outside = outside
        self._timers = Timers(clock)
        self._nursery = Nursery(spawn, self._timers)
        self._workers = Workers(settings, self._nursery, self._timers)
        self._fronts = Fronts(settings, outside.drain_timeout, self._nursery, self._timers, forks=outside.forks)
        self._players = Players(settings, self._fronts, self._nursery, self._timers)
        self._books = BookMakers(settings, self._fronts, self._nursery, self._timers)
        self._clients = {"player": self._players.role, "books": self._books.role}
        """Roles whose processes are clients of the front."""
        self._tls = Role("tls", settings, self._nursery, self._timers)
        if settings.tls_port is not None:
            self._clients["tls"] = self._tls
            self._tls.want()
        self._errands = Errands(self._nursery, self._timers)
        self._heartbeats = Heartbeats(
            self._timers,
            lambda: [child for child in self._nursery.children if not child.ending],
            self._hangs,
            outside.answers,
            limit=outside.answer_limit,
            longest_start=settings.load_timeout,
        )
        self._code: ExitCode | None = None
        """The status with which the server ends; None until it is to stop."""
        self.exit_code: ExitCode | None = None
        self._reloading = self._served = False
        self._standing = Standing(Phase.STARTING, "")
        self._situation: Situation | None = None
        self._announced: Incarnation | None = None
        self._asked: list[Incarnation] = []
        """Speaking workers that were already asked for their errands."""

    # -- events

    def start(self) -> None:
        self._reconcile()

    def message(self, sender: Incarnation, message: ControlMessage) -> None:
        if not sender.attentive or isinstance(message, Heartbeat):
            sender.attentive = True
            self._heartbeats.heard(sender)
        match message:
            case Started():
                if sender.role == "worker":
                    self._workers.attends(sender)
                elif sender.role in ("front", "template"):
                    self._fronts.started(sender)
                elif sender.role in self._clients:
                    self._clients[sender.role].serves(sender)
            case ChildProgress():
                sender.progressed = True
            case Loading(provider):
                sender.order_open = False
                sender.loading = provider
            case ChildReady():
                self._workers.ready(sender, message)
            case Placed(priority):
                sender.order_open = False
                sender.placed(priority)
            case BootFailure(_, reason):
                self._workers.boot_failure(sender, reason)
            case ProviderFailure(provider, reason):
                self._workers.provider_failure(sender, provider, reason)
            case Recycle(reason):
                self._workers.recycle(sender, reason)
            case Distrust(generation, reason):
                self._workers.distrusted(generation, reason)
            case WorkersNeeded(needed):
                front = self._fronts.role
                # A front that finishes its streams still needs the workers.
                if needed or (sender is front.process and not front.successor and not front.draining):
                    self._workers.needed = needed
            case Idle(generation):
                self._fronts.released(sender, generation)
            case Cleared(digest):
                self._fronts.suspects.cleared(digest)
            case PlayerWanted():
                self._players.role.want()
            case BooksNews():
                self._books.news(sender, message)
            case BooksIdle(seen):
                self._books.idle(seen)
        self._reconcile()

    def _hangs(self, child: Incarnation, reason: str) -> None:
        """Handle the finding that a child hangs: another one takes its place at once."""
        if child.role == "worker":
            self._workers.hangs(child, reason)
        elif child.role in self._clients:
            self._clients[child.role].condemn(child, reason)
        else:
            self._fronts.hangs(child, reason)

    def exited(self, child: Incarnation) -> None:
        status = self._nursery.reap(child)
        if child.role in ("front", "template"):
            self._fronts.exited(child, status)
        elif child.role in self._clients:
            self._clients[child.role].exited(child, status)
        elif child.role == "worker":
            self._workers.exited(child, status)
            self._fronts.worker_exited(child)
        elif why := self._errands.exited(status):
            self._workers.replace_all(why)
        self._reconcile()

    def signal(self, number: int) -> None:
        """Handle a signal: SIGTERM and SIGINT drain; a second SIGINT ends everything at once; SIGHUP reads the settings
        again; SIGUSR2 updates, and so does SIGHUP if another version is installed."""
        if self._code is not None:
            if number == signal.SIGINT:
                log.warning("interrupted again: ending at once")
                self._code = ExitCode.INTERRUPTED
                for child in self._nursery.children:
                    child.kill()
        elif number == signal.SIGUSR2 or (number == signal.SIGHUP and self._outside.is_outdated()):
            self._outside.update()
        elif number == signal.SIGHUP:
            self._reload()
        else:
            log.info("%s: draining for up to %g s", signal.Signals(number).name, self._outside.drain_timeout())
            self._stop(ExitCode.OK)
        self._reconcile()

    def tick(self) -> None:
        self._timers.run_due()
        self._reconcile()

    @property
    def front(self) -> Incarnation | None:
        """The front that serves: it gets the connections."""
        return self._fronts.role.process if self._fronts.role.state is RoleState.RUNNING else None

    @property
    def speaks(self) -> bool:
        """True while a front serves and an engine speaks."""
        return self.front is not None and bool(speaking(self._workers.roles))

    def retire(self) -> None:
        """End as soon as the present answers have ended, because another version serves. Idempotent."""
        if self._code is None:
            log.info("another version serves: finishing the answers that this one has begun")
            self._books.role.stop(KILL_GRACE)
            self._stop(ExitCode.OK, SUCCEEDED)
            self._reconcile()

    def next_wakeup(self) -> float | None:
        """Monotonic seconds at which `tick` is to be called."""
        return self._timers.next

    def abandon(self) -> None:
        """Kill and reap every child, because this program can't continue."""
        for child in list(self._nursery.children):
            child.kill()
            self._nursery.reap(child)

    def _reload(self) -> None:
        changes = self._outside.reload()
        for role in (*self._workers.roles, self._books.role, self._tls):
            role.retry()
        if changes.worker:
            self._errands.forget()
            self._workers.replace_all("its settings have changed")
        if changes.front:
            self._fronts.outdate("its settings have changed")
            self._books.renew()
        self._reloading = True

    def _stop(self, code: ExitCode, seconds: float | None = None) -> None:
        """End the server with that status: drain the fronts, within `seconds` if another server takes its place; the
        workers end after them."""
        if self._code is not None:
            return
        self._code = code
        self._outside.stop_listening()
        self._errands.stop()
        self._workers.stop_spares()
        self._fronts.stop(seconds)
        # Its connections end with the fronts', whose last bytes it then sends.
        self._tls.stop((self._outside.drain_timeout() if seconds is None else seconds) + 2 * KILL_GRACE)

    # -- consequences of events

    def _reconcile(self) -> None:
        """Compare the actual with the wanted state, and act on the difference. Called once after each event."""
        if self._fronts.role.state is RoleState.FATAL:
            self._stop(ExitCode.CRASH_LOOP)
        elif hopeless(self._workers.roles):
            self._stop(ExitCode.ENGINE)
        self._workers.reconcile()
        self._fronts.reconcile()
        try:
            self._fronts.join(speaking(self._workers.roles))
        except NoMemory as error:
            log.critical("%s", error)
            self._stop(ExitCode.MEMORY)
        if self._code is None:
            self._fronts.stand_by(speaking(self._workers.roles))
        self._players.reconcile()
        self._books.reconcile()
        self._tls.start_if_due()
        # After the joining: a front gets the new worker before it releases the old one.
        self._fronts.end_predecessors()
        for worker in [each for role in self._workers.roles for each in role.draining]:
            if self._fronts.release(worker):
                self._nursery.end(worker)
        self._announce()
        self._tell()
        front = self._fronts.role
        if self._code is not None and not (front.process or front.successor or front.draining):
            self._workers.stop()
            for role in self._clients.values():
                role.stop(KILL_GRACE)
        if not self._nursery.children:
            self.exit_code = self._code

    def _announce(self) -> None:
        """Announce the engine that speaks, and ask for errands, once for each worker that has started to speak."""
        if self._code is not None or self._fronts.role.state is not RoleState.RUNNING:
            return
        heard = voice(self._workers.roles)
        if heard and heard.ready and heard is not self._announced:
            self._announced = heard
            self._outside.announce(heard.ready)
        workers = speaking(self._workers.roles)
        for worker in workers:
            if worker.ready and worker not in self._asked:
                self._errands.want(self._outside.errands(worker.ready))
        self._asked = workers

    def _tell(self) -> None:
        """Send the situation to the fronts and the program, if it has changed."""
        front, workers = self._fronts.role, self._workers.roles
        best_worker, errand = best(workers), self._errands.running
        situation = Situation(
            best_worker.state,
            best_worker.reason,
            {"front": front.restarts, "worker": sum(role.restarts for role in workers)}
            | {name: role.restarts for name, role in self._clients.items()},
            dict(self._workers.failures.reasons),
            tuple(reports(front, workers, self._spares())),
            self._outside.tuning(),
            {role.slot: role.ready.engine for role in returning(workers) if role.ready and role.slot is not None},
            self._fronts.streams_cut,
            self._players.role.given_up,
            self._books.role.given_up,
        )
        self._fronts.tell(situation)
        if situation != self._situation:
            self._situation = situation
            self._outside.situation(situation)
        self._served |= front.state is best_worker.state is RoleState.RUNNING
        self._reloading &= any(role.successor or role.outdated for role in (front, *workers))
        standing = Standing(
            phase(self._code is not None, self._served, self._reloading),
            summary(front, workers, self._code is not None, errand[0].meanwhile if errand else ""),
        )
        if standing != self._standing:
            self._standing = standing
            self._outside.stands(standing)

    def _spares(self) -> Iterator[Spare]:
        """The processes that are no front and fill no worker's slot."""
        if standby := self._workers.standby:
            state = "loaded" if standby.ready else "imported" if standby.attentive else RoleState.STARTING
            yield standby, "standby", state
        fronts = self._fronts.standby
        for name, spare in (("standby-front", fronts.process), ("front-template", fronts.template)):
            if spare:
                yield spare, name, "ready" if spare.able else RoleState.STARTING
        if errand := self._errands.running:
            yield errand[1], errand[0].role, RoleState.RUNNING
        for name, role in self._clients.items():
            if role.process:
                yield role.process, name, role.state
