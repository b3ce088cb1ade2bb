"""The supervisor's decisions: when processes are started, restarted and stopped. The module makes no system calls;
processes and the clock are passed in.

Handlers are called by one thread, one event at a time: `message`, `exited`, `signal`, and `tick` at `next_wakeup`. Each
handler records its event, and then one `_reconcile` acts on the difference between the actual and the wanted state.
`exit_code` is set when no work is left.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable

from shm.memory import NoMemory
from shm.messages import (
    BooksIdle,
    BooksNews,
    BootFailure,
    Cleared,
    ControlMessage,
    Distrust,
    Idle,
    Loading,
    Placed,
    PlayerWanted,
    Progress,
    ProviderFailure,
    Ready,
    Recycle,
    Started,
    WorkersNeeded,
)
from shm.situation import Situation
from supervisor.processes.book_makers import BookMakers
from supervisor.processes.errands import Errands
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation, Spawner
from supervisor.processes.joints import Joints
from supervisor.processes.nursery import Nursery
from supervisor.processes.outside import Outside
from supervisor.processes.players import Players
from supervisor.processes.process_list import Spare, reports
from supervisor.processes.role import RoleState
from supervisor.processes.speaking import best, hopeless, resting, speaking, voice
from supervisor.processes.standing import Phase, Standing, phase, summary
from supervisor.processes.timers import Timers
from supervisor.processes.workers import Workers, placed
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


class Lifecycle:
    """The supervisor's decision logic."""

    def __init__(
        self, settings: SupervisorSettings, spawn: Spawner, clock: Callable[[], float], outside: Outside
    ) -> None:
        self._outside = outside
        self._timers = Timers(clock)
        self._nursery = Nursery(spawn, self._timers)
        self._workers = Workers(settings, self._nursery, self._timers)
        self._fronts = Fronts(settings, outside.drain_timeout, self._nursery, self._timers)
        self._joints = Joints(settings, self._fronts)
        self._players = Players(settings, self._fronts, self._nursery, self._timers)
        self._books = BookMakers(settings, self._fronts, self._nursery, self._timers)
        self._clients = {"player": self._players.role, "books": self._books.role}
        """Roles whose processes are clients of the front."""
        self._errands = Errands(self._nursery, self._timers, lambda why: self._workers.replace(why, fresh=True))
        self._stopping = False
        self._reloading = False
        self._served = False
        self._standing = Standing(Phase.STARTING, "")
        self._situation: Situation | None = None
        self._announced: Incarnation | None = None
        self._asked: set[int] = set()
        """Generations of workers that were already asked for their errands."""
        self._code = ExitCode.OK
        self.exit_code: ExitCode | None = None

    # -- events

    def start(self) -> None:
        self._workers.start()
        self._fronts.start()
        self._reconcile()

    def message(self, sender: Incarnation, message: ControlMessage) -> None:
        """Handle a child's message."""
        match message:
            case Started():
                self._clients.get(sender.role, self._fronts.role).serves(sender)
            case PlayerWanted():
                self._players.wanted()
            case BooksNews():
                self._books.news(sender, message)
            case BooksIdle(seen):
                self._books.idle(seen)
            case Loading(provider):
                sender.loading = provider
            case Ready():
                self._workers.ready(sender, message)
            case Progress():
                sender.progressed = True
            case Placed(priority):
                placed(sender, priority)
            case BootFailure(_, reason):
                self._workers.boot_failure(sender, reason)
            case ProviderFailure():
                self._workers.provider_failure(sender, message)
            case Recycle(reason):
                self._workers.replace(reason, fresh=False, only=sender)
            case WorkersNeeded(needed):
                self._needed(sender, needed)
            case Distrust(generation, reason):
                self._workers.distrusted(generation, reason)
            case Cleared(digest):
                self._fronts.cleared(digest)
            case Idle(generation):
                self._joints.idle(sender.generation, generation)
        self._reconcile()

    def _needed(self, front: Incarnation, needed: bool) -> None:
        """Let the workers rest or wake. A front that finishes its streams still needs them."""
        if needed or (front is self._fronts.role.process and not self._fronts.finishing):
            self._workers.needed(needed)

    def exited(self, child: Incarnation) -> None:
        """Handle the end of a child's process."""
        self._asked.discard(child.generation)
        asked = self._nursery.is_ending(child)
        status = self._nursery.reap(child)
        if self._errands.exited(child, status):
            pass
        elif child.role == "front":
            self._fronts.exited(child, status, asked)
        elif child.role == "player":
            self._players.exited(child, status)
        elif child.role == "books":
            self._books.exited(child, status)
        else:
            self._workers.exited(child, status)
        self._joints.gone(child)
        self._reconcile()

    def signal(self, number: int) -> None:
        """Handle a signal: SIGTERM and SIGINT drain; a second SIGINT ends everything at once; SIGHUP reads the settings
        again."""
        if number == signal.SIGHUP:
            self._reload()
        elif self._stopping and number == signal.SIGINT:
            log.warning("interrupted again: ending at once")
            self._code = ExitCode.INTERRUPTED
            for child in self._nursery.children:
                child.kill()
        elif not self._stopping:
            log.info("%s: draining for up to %g s", signal.Signals(number).name, self._outside.drain_timeout())
            self._stop(ExitCode.OK)
        self._reconcile()

    def tick(self) -> None:
        """Do all work that has become due."""
        self._timers.run_due()
        self._reconcile()

    def next_wakeup(self) -> float | None:
        """Monotonic seconds at which `tick` is to be called."""
        return self._timers.next

    def _reload(self) -> None:
        if self._stopping:
            return
        changes = self._outside.reload()
        if changes.worker:
            self._errands.forget()
            self._workers.replace("its settings have changed", fresh=True)
        if changes.front:
            self._fronts.replace("its settings have changed")
            self._books.renew()
        self._reloading = True

    def abandon(self) -> None:
        """Kill and reap every child, because this program can't continue."""
        for child in list(self._nursery.children):
            child.kill()
            self._nursery.reap(child)

    # -- consequences of events

    def _reconcile(self) -> None:
        """Compare the actual with the wanted state, and act on the difference. Called once after each event."""
        if self._fronts.role.state is RoleState.FATAL:
            self._stop(ExitCode.CRASH_LOOP)
        elif hopeless(self._workers.roles):
            self._stop(ExitCode.ENGINE)
        self._workers.reconcile()
        self._fronts.start_if_due()
        self._join()
        self._players.reconcile()
        self._books.reconcile()
        self._end_predecessors()  # after the joining: a front gets the new worker before it releases the old one
        self._announce()
        self._tell()
        if self._stopping and self._fronts.gone:
            self._workers.stop()
            self._players.stop()
            self._books.stop()
        if self._stopping and not self._nursery.children:
            self.exit_code = self._code

    def _stop(self, code: ExitCode) -> None:
        """End the server with that status: drain the fronts; the workers end after them."""
        if self._stopping:
            return
        self._stopping = True
        self._code = code
        self._outside.stop_listening()
        self._errands.stop()
        self._workers.stop_spares()
        self._fronts.stop()

    def _join(self) -> None:
        try:
            for front in list(self._fronts.listening):
                for slot, worker in speaking(self._workers.roles):
                    self._joints.join(front, worker, slot)
        except NoMemory as error:
            log.critical("%s", error)
            self._stop(ExitCode.MEMORY)

    def _end_predecessors(self) -> None:
        self._fronts.end_predecessors()
        for role in self._workers.roles:
            for worker in role.draining.values():
                if self._joints.drain(worker):
                    self._nursery.end(worker)

    def _announce(self) -> None:
        """Announce the engine that speaks, and ask for errands, once for each worker that has started to speak."""
        if self._stopping or self._fronts.role.state is not RoleState.RUNNING:
            return
        heard = voice(self._workers.roles)
        if heard and heard.ready and heard is not self._announced:
            self._announced = heard
            self._outside.announce(heard.ready)
        for _, worker in speaking(self._workers.roles):
            if worker.ready and worker.generation not in self._asked:
                self._asked.add(worker.generation)
                self._errands.want(self._outside.errands(worker.ready))

    def _tell(self) -> None:
        """Send the situation to the fronts and the program, if it has changed."""
        front, workers, running = self._fronts.role, self._workers.roles, self._errands.running
        best_worker, standby = best(workers), self._workers.standby
        spares: list[Spare] = [(standby.process, "standby", standby.state)] if standby.process else []
        if running:
            spares.append((running[1], running[0].role, RoleState.RUNNING))
        spares += [(role.process, role.name, role.state) for role in self._clients.values() if role.process]
        situation = Situation(
            best_worker.state,
            best_worker.reason,
            {
                "front": front.restarts,
                "worker": sum(role.restarts for role in workers),
                "player": self._players.role.restarts,
                "books": self._books.role.restarts,
            },
            dict(self._workers.failures.reasons),
            tuple(reports(front, workers, spares, self._nursery)),
            self._outside.tuning(),
            {role.slot: role.ready.engine for role in resting(workers) if role.ready and role.slot is not None},
            self._fronts.streams_cut,
            self._players.reason,
            self._books.reason,
        )
        self._fronts.tell_all(situation)
        if situation != self._situation:
            self._situation = situation
            self._outside.situation(situation)
        self._served |= front.state is best_worker.state is RoleState.RUNNING
        self._reloading &= front.successor is not None or self._workers.replacing
        standing = Standing(
            phase(self._stopping, self._served, self._reloading),
            summary(front, workers, self._stopping, running[0].meanwhile if running else ""),
        )
        if standing != self._standing:
            self._standing = standing
            self._outside.stands(standing)
