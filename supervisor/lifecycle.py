"""What is started, restarted and stopped, when and why. No system call in here: processes and the clock are given.

Handlers are called by one thread, one event at a time: `message`, `exited`, `signal`, and `tick` when `next_wakeup`
has come. `exit_code` is set when there is nothing left to do.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import signal
from collections.abc import Callable, Iterable

from shm.memory import NoMemory
from shm.messages import (
    BootFailure,
    Connect,
    ControlMessage,
    Disconnect,
    Distrust,
    Drain,
    Idle,
    Ready,
    Situation,
    Started,
)
from supervisor.channels import channel
from supervisor.exit_codes import ExitCode
from supervisor.incarnation import Incarnation, Spawner
from supervisor.service import Service, State
from supervisor.settings import SupervisorSettings

log = logging.getLogger(__name__)

KILL_GRACE = 2.0
"""Seconds beyond its own time limit after which a child that should end is killed."""


_LISTENS = (State.RUNNING, State.STOPPING)
"""States of the front in which it follows messages: it needs a worker until its last stream has ended."""


class Lifecycle:
    """The supervisor's mind.

    `fetch_model` says whether the model should be fetched in the background now that this engine speaks;
    `announce` is called whenever something new speaks and the front serves.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        drain_timeout: float,
        spawn: Spawner,
        clock: Callable[[], float],
        fetch_model: Callable[[Ready], bool],
        announce: Callable[[Ready], None],
        stop_listening: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._drain_timeout = drain_timeout
        self._spawn = spawn
        self._clock = clock
        self._fetch_model = fetch_model
        self._announce = announce
        self._stop_listening = stop_listening
        self._front = Service("front")
        self._worker = Service("worker")
        self._successor: Incarnation | None = None
        """The next worker generation, while it loads beside the one that speaks."""
        self._retired: dict[int, Incarnation] = {}
        """Worker generations that finish their streams."""
        self._fetcher: Incarnation | None = None
        self._fetched = False
        self._ready: Ready | None = None
        self._generations = itertools.count(1)
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timer_ids = itertools.count()
        self._stopping = False
        self._code = ExitCode.OK
        self.exit_code: ExitCode | None = None

    # -- events

    def start(self) -> None:
        self._start(self._worker)
        self._start(self._front)

    def message(self, sender: Incarnation, message: ControlMessage) -> None:
        """A child said something."""
        match message:
            case Started():
                self._front_started()
            case Ready():
                self._worker_ready(sender, message)
            case BootFailure(_, reason):
                self._boot_failure(sender, reason)
            case Distrust(generation, reason):
                self._distrusted(generation, reason)
            case Idle(generation):
                if retired := self._retired.get(generation):
                    self._end(retired, KILL_GRACE)

    def exited(self, child: Incarnation) -> None:
        """A child's process has ended."""
        status = child.reap()
        if child is self._fetcher:
            self._fetcher = None
            if status == 0 and not self._stopping:
                self._replace_worker("the model was fetched")
        elif child is self._successor:
            self._successor = None
            log.error("worker[%d], meant to take over, ended with %s", child.generation, status)
        elif self._retired.pop(child.generation, None):
            self._tell_front(Disconnect(child.generation))
            log.info("worker[%d] has finished", child.generation)
        elif child is self._worker.process:
            self._tell_front(Disconnect(child.generation))
            self._died(self._worker, status)
        elif child is self._front.process:
            self._died(self._front, status)
        self._conclude()

    def signal(self, number: int) -> None:
        """SIGTERM and SIGINT drain; a second SIGINT ends everything at once."""
        if self._stopping and number == signal.SIGINT:
            log.warning("interrupted again: ending at once")
            self._code = ExitCode.INTERRUPTED
            for child in self._children():
                child.kill()
        elif not self._stopping:
            log.info("%s: draining for up to %g s", signal.Signals(number).name, self._drain_timeout)
            self._stop()

    def tick(self) -> None:
        """Do what has become due."""
        while self._timers and self._timers[0][0] <= self._clock():
            heapq.heappop(self._timers)[2]()

    def next_wakeup(self) -> float | None:
        """Monotonic seconds at which `tick` wants to be called."""
        return self._timers[0][0] if self._timers else None

    # -- starting

    def _start(self, service: Service) -> None:
        if self._stopping and (service is self._front or not self._front.process):
            return  # a worker is still worth starting while the front drains
        service.become(State.STARTING, f"the {service.role} is starting")
        service.process = self._started(service.role)
        self._report()

    def _started(self, role: str) -> Incarnation:
        child = self._spawn(role, next(self._generations))
        log.info("started %s[%d], pid %d", role, child.generation, child.pid)
        return child

    def _front_started(self) -> None:
        self._front.become(State.RUNNING)
        for retired in self._retired.values():
            self._end(retired, KILL_GRACE)  # its streams ended with the front that had them
        if self._worker.state is State.RUNNING and self._worker.process:
            self._connect(self._worker.process)
        self._report()  # last: with it the front begins to accept requests, and none need be refused

    def _worker_ready(self, worker: Incarnation, ready: Ready) -> None:
        worker.engine = ready.engine
        engine = ready.engine
        log.info("worker[%d] is ready after %.2f s: %s", worker.generation, ready.load_seconds, engine.name)
        if self._stopping and not self._front.process:
            return
        old = self._take_over(worker) if worker is self._successor else None
        if self._worker.state is not State.RUNNING:
            self._worker.become(State.RUNNING)
        self._ready = ready
        self._report()
        if self._front.state in _LISTENS:
            self._connect(worker)
        if old is not None:
            self._retire(old)
        if not self._fetched and not self._stopping and self._fetch_model(ready):
            self._fetched = True
            self._fetcher = self._started("fetcher")

    def _connect(self, worker: Incarnation) -> None:
        """Join the worker to the front by a channel of their own; what either had before is void."""
        rings, samples = self._settings.rings, self._settings.ring_samples
        try:
            with channel(rings, samples) as ends:
                worker.send(Connect(worker.generation, rings, samples), ends.worker)
                self._tell_front(Connect(worker.generation, rings, samples, worker.engine), ends.front)
        except NoMemory as error:
            log.error("%s", error)
            self._code = ExitCode.MEMORY
            self._stop()
            return
        if self._ready:
            self._announce(self._ready)

    def _replace_worker(self, why: str) -> None:
        """Bring up another generation beside the one that speaks, which goes on until then."""
        if self._worker.state is State.RUNNING and self._successor is None:
            log.info("bringing up another worker: %s", why)
            self._successor = self._started("worker")

    def _take_over(self, successor: Incarnation) -> Incarnation | None:
        """Make the successor the worker; returns the one that was, if it is still there."""
        old = self._worker.process
        self._successor, self._worker.process = None, successor
        if self._worker.state in (State.BACKOFF, State.FATAL):
            self._worker.become(State.STARTING)
        return old

    def _retire(self, old: Incarnation) -> None:
        """Let the old worker finish its streams, if it has any; the front says when (`Idle`)."""
        self._retired[old.generation] = old
        if old.engine is not None and self._front.state in _LISTENS:
            self._tell_front(Disconnect(old.generation, draining=True))
        else:
            self._end(old, KILL_GRACE)

    # -- ending

    def _boot_failure(self, child: Incarnation, reason: str) -> None:
        log.error("%s", reason)
        if child is self._worker.process:
            self._worker.become(State.FATAL, reason)
            self._report()
            self._end(child, KILL_GRACE)
            if not self._worker.ever_ran:
                self._code = ExitCode.ENGINE
                self._stop()

    def _distrusted(self, generation: int, reason: str) -> None:
        worker = self._worker.process
        if worker is not None and worker.generation == generation:
            log.error("ending worker[%d]: %s", generation, reason)
            worker.kill()
        elif retired := self._retired.get(generation):
            retired.kill()

    def _died(self, service: Service, status: int) -> None:
        service.process = None
        if service.state is State.STOPPING:
            service.become(State.STOPPED)
        if service.state in (State.STOPPED, State.FATAL):
            return
        delay = service.window.after_death(self._clock())
        if delay is None:
            service.become(State.FATAL, f"the {service.role} keeps dying (last: {_ended(status)}); see the log")
            log.critical("%s", service.reason)
            self._report()
            if service is self._front:
                self._code = ExitCode.CRASH_LOOP
                self._stop()
            return
        log.error("the %s died (%s); starting it again in %g s", service.role, _ended(status), delay)
        service.restarts += 1
        service.become(State.BACKOFF, f"the {service.role} is being restarted")
        self._report()
        self._after(delay, lambda: self._start(service) if service.state is State.BACKOFF else None)

    def _stop(self) -> None:
        """Drain the front; the workers go when it has gone."""
        if self._stopping:
            return
        self._stopping = True
        self._stop_listening()
        for child in (self._fetcher, self._successor):
            if child:
                child.kill()
        front = self._front.process
        if self._front.state is State.RUNNING and front:
            self._front.become(State.STOPPING)
            self._end(front, self._drain_timeout + KILL_GRACE)
        elif front:
            self._front.become(State.STOPPING)
            front.kill()
        elif self._front.state is not State.STOPPED:
            self._front.become(State.STOPPED)
        self._conclude()

    def _conclude(self) -> None:
        """While stopping: once the front is gone, end the workers; once all are gone, be done."""
        if not self._stopping or self._front.process:
            return
        if worker := self._worker.process:
            if self._worker.state in (State.STARTING, State.RUNNING):
                self._worker.become(State.STOPPING)
                self._end(worker, KILL_GRACE)
        elif self._worker.state is not State.STOPPED:
            self._worker.become(State.STOPPED)
        for retired in self._retired.values():
            self._end(retired, KILL_GRACE)
        if not any(True for _ in self._children()):
            self.exit_code = self._code

    def _end(self, child: Incarnation, limit: float) -> None:
        """Ask the child to end; kill it if it can't be asked or is still there after `limit` seconds."""
        if not child.send(Drain()):
            child.kill()
        self._after(limit, lambda: child.kill() if child in list(self._children()) else None)

    # -- tools

    def _children(self) -> Iterable[Incarnation]:
        """All that are started and not reaped."""
        single = (self._front.process, self._worker.process, self._successor, self._fetcher)
        return (child for child in (*single, *self._retired.values()) if child)

    def _report(self) -> None:
        restarts = {service.role: service.restarts for service in (self._front, self._worker)}
        self._tell_front(Situation(self._worker.state, self._worker.reason, restarts))

    def _tell_front(self, message: ControlMessage, fds: tuple[int, ...] = ()) -> None:
        front = self._front.process
        if self._front.state in _LISTENS and front and not front.send(message, fds):
            log.error("the front doesn't listen: ending it")
            front.kill()

    def _after(self, delay: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self._clock() + delay, next(self._timer_ids), action))


def _ended(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"
