"""What is started, restarted and stopped, when and why. No system call in here: processes and the clock are given.

Handlers are called by one thread, one event at a time: `message`, `exited`, `signal`, and `tick` when `next_wakeup`
has come. `exit_code` is set when there is nothing left to do.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shm.memory import NoMemory
from shm.messages import (
    BootFailure,
    Connect,
    ControlMessage,
    Distrust,
    Idle,
    Loading,
    Placed,
    ProviderFailure,
    Ready,
    Recycle,
    Situation,
    Started,
    Tuning,
)
from supervisor.processes.channels import channel
from supervisor.processes.errands import Errand, Errands
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation, Spawner
from supervisor.processes.nursery import Nursery
from supervisor.processes.process_list import Beside, reports
from supervisor.processes.service import State
from supervisor.processes.standing import Phase, Standing
from supervisor.processes.timers import Timers
from supervisor.processes.workers import Workers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changes:
    """Which processes' settings a reload has changed."""

    front: bool
    worker: bool


class Outside:
    """What the lifecycle asks of the program around it. Here: a server that is never reloaded and fetches nothing."""

    def errands(self, ready: Ready) -> Sequence[Errand]:
        """What is to be done beside, now that this engine speaks. What was done once isn't done again."""
        return ()

    def tuning(self) -> Tuning | None:
        """What became of tuning's profile; None: nobody knows of tuning."""
        return None

    def announce(self, ready: Ready) -> None:
        """Something new speaks."""

    def stands(self, standing: Standing) -> None:
        """The server as a whole stands otherwise than before."""

    def situation(self, situation: Situation) -> None:
        """Something about the processes has changed."""

    def stop_listening(self) -> None:
        """Close the listening socket."""

    def reload(self) -> Changes:
        """Read the settings again; children started from now on have them."""
        return Changes(False, False)

    def drain_timeout(self) -> float:
        """Seconds that streams have to finish."""
        return 30.0


class Lifecycle:
    """The supervisor's mind."""

    def __init__(
        self, settings: SupervisorSettings, spawn: Spawner, clock: Callable[[], float], outside: Outside
    ) -> None:
        self._settings = settings
        self._outside = outside
        self._timers = Timers(clock)
        self._nursery = Nursery(spawn, self._timers)
        self._workers = Workers(settings, self._nursery, self._timers, self)
        self._fronts = Fronts(settings, outside.drain_timeout, self._nursery, self._timers, self)
        self._errands = Errands(self._nursery, self._timers, lambda why: self._workers.replace(why, fresh=True))
        self._stopping = False
        self._reloading = False
        self._standing = Standing(Phase.STARTING, "")
        self._told: Situation | None = None
        self._served = False
        self._code = ExitCode.OK
        self.exit_code: ExitCode | None = None

    # -- events

    def start(self) -> None:
        self._workers.start()
        self._fronts.start()
        self._conclude()

    def message(self, sender: Incarnation, message: ControlMessage) -> None:
        """A child said something."""
        match message:
            case Started():
                self._fronts.started(sender)
            case Loading(provider):
                self._workers.loading(sender, provider)
            case Ready():
                self._workers.ready(sender, message)
            case Placed(priority):
                self._workers.placed(sender, priority)
            case BootFailure(_, reason):
                self._workers.boot_failure(sender, reason)
            case ProviderFailure():
                self._workers.provider_failure(sender, message)
            case Recycle(reason):
                self._workers.replace(reason, fresh=False, only=sender)
            case Distrust(generation, reason):
                self._workers.distrusted(generation, reason)
            case Idle(generation):
                self._workers.idle(sender.generation, generation)
        self._conclude()

    def exited(self, child: Incarnation) -> None:
        """A child's process has ended."""
        status = self._nursery.reap(child)
        if self._errands.exited(child, status):
            pass
        elif child.role == "front":
            self._fronts.exited(child, status)
        else:
            self._workers.exited(child, status)
        self._conclude()

    def signal(self, number: int) -> None:
        """SIGTERM and SIGINT drain; a second SIGINT ends everything at once; SIGHUP reads the settings again."""
        if number == signal.SIGHUP:
            self._reload()
        elif self._stopping and number == signal.SIGINT:
            log.warning("interrupted again: ending at once")
            self._code = ExitCode.INTERRUPTED
            for child in self._nursery.children:
                child.kill()
        elif not self._stopping:
            log.info("%s: draining for up to %g s", signal.Signals(number).name, self._outside.drain_timeout())
            self._stop()

    def tick(self) -> None:
        """Do what has become due."""
        self._timers.run_due()
        self._conclude()

    def next_wakeup(self) -> float | None:
        """Monotonic seconds at which `tick` wants to be called."""
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
        self._reloading = True
        self._conclude()

    # -- joining fronts and workers

    def connect(self, worker: Incarnation, slot: int) -> None:
        """See `WorkersHost`."""
        for front in list(self._fronts.listening):
            self._join(worker, slot, front)
        self._new_voice(worker)

    def introduce(self, front: Incarnation) -> None:
        """See `FrontsHost`. The situation comes last: with it the front begins to accept, and none need be refused."""
        for slot, worker in self._workers.speaking:
            self._join(worker, slot, front)
            self._new_voice(worker)
        self._fronts.send(front, self._situation())

    def _join(self, worker: Incarnation, slot: int, front: Incarnation) -> None:
        """Give the two a channel of their own."""
        assert worker.ready is not None
        rings, samples = self._settings.rings, self._settings.ring_samples
        try:
            with channel(rings, samples) as ends:
                worker.send(Connect(worker.generation, rings, samples), ends.worker)
                told = Connect(worker.generation, rings, samples, worker.ready.engine, slot)
                self._fronts.send(front, told, ends.front)
        except NoMemory as error:
            log.critical("%s", error)
            self.give_up(ExitCode.MEMORY)

    def _new_voice(self, worker: Incarnation) -> None:
        if worker.ready is None or self._stopping or self._fronts.service.state is not State.RUNNING:
            return
        if worker is self._workers.voice:  # of several, one is announced, so that nobody hears of a change
            self._outside.announce(worker.ready)
        self._errands.want(self._outside.errands(worker.ready))

    def fronts(self) -> set[int]:
        """See `WorkersHost`."""
        return {front.generation for front in self._fronts.listening}

    def tell_fronts(self, message: ControlMessage) -> None:
        """See `WorkersHost`."""
        self._fronts.tell(message)

    def front_gone(self, generation: int) -> None:
        """See `FrontsHost`."""
        self._workers.front_gone(generation)

    def report(self) -> None:
        """See `WorkersHost`."""
        self._told = self._situation()
        self._fronts.tell(self._told)
        self._outside.situation(self._told)

    def _situation(self) -> Situation:
        restarts = {"front": self._fronts.service.restarts, "worker": self._workers.restarts}
        worker = self._workers.service
        others = [*self._fronts.others, *self._workers.others]
        if running := self._errands.running:
            others.append(Beside(running[1], running[0].role, State.RUNNING))
        processes = tuple(reports(self._fronts.service, self._workers.services, others, self._nursery))
        failures, tuning = dict(self._workers.provider_failures), self._outside.tuning()
        return Situation(worker.state, worker.reason, restarts, failures, processes, tuning)

    # -- the whole

    def _tell_standing(self) -> None:
        front, worker = self._fronts.service, self._workers.service
        self._served |= front.state is State.RUNNING and worker.state is State.RUNNING
        self._reloading &= self._fronts.replacing or self._workers.replacing
        standing = Standing(self._phase(), self._summary())
        if standing != self._standing:
            self._standing = standing
            self._outside.stands(standing)

    def _phase(self) -> Phase:
        if self._stopping:
            return Phase.DRAINING
        if not self._served:
            return Phase.STARTING
        return Phase.RELOADING if self._reloading else Phase.SERVING

    def _summary(self) -> str:
        front, worker = self._fronts.service, self._workers.service
        for service in (front, worker):
            if service.state is State.FATAL:
                return service.reason
        if self._stopping:
            return "draining"
        for service in (front, worker):
            if service.state is not State.RUNNING:
                return service.reason
        voice = self._workers.voice
        assert voice and voice.ready
        engine = voice.ready.engine
        several = len(self._workers.services)
        workers = f", {len(self._workers.speaking)} of {several} workers" if several > 1 else ""
        errand = f", while {running[0].meanwhile}" if (running := self._errands.running) else ""
        return f"speaking with {engine.name} ({engine.model}, {engine.provider}){workers}{errand}"

    # -- ending

    def give_up(self, code: ExitCode) -> None:
        """End the server with that status; streams still finish."""
        self._code = code
        self._stop()

    def abandon(self) -> None:
        """Kill and reap every child: this program can't go on."""
        for child in list(self._nursery.children):
            child.kill()
            self._nursery.reap(child)

    def _stop(self) -> None:
        """Drain the fronts; the workers go when they have gone."""
        if self._stopping:
            return
        self._stopping = True
        self._outside.stop_listening()
        self._errands.stop()
        self._workers.stop_spares()
        self._fronts.stop()
        self._conclude()

    def _conclude(self) -> None:
        """After each event. While stopping: the fronts gone, end the workers; all gone, be done."""
        self._tell_standing()
        if self._situation() != self._told:
            self.report()
        if not self._stopping:
            return
        if self._fronts.gone:
            self._workers.stop()
        if not self._nursery.children:
            self.exit_code = self._code
