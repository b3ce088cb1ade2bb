"""The processes that the supervisor has started and not reaped, with the facts that are known about each."""

from __future__ import annotations

import itertools
import logging
import signal
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from shm.engine_info import EngineInfo, Priority
from shm.in_flight import TextsInFlight
from shm.messages import ChildReady, ControlMessage, Drain, Load
from supervisor.processes.timers import Timers
from worker.targets import CPU


class Activity(NamedTuple):
    """The use of a processor by a process."""

    seconds: float
    """Processor time that it has used so far."""
    waits: str = ""
    """The resource that its main thread waits for: `processor` or `disk`; empty if neither, or if nobody knows."""


class Incarnation(ABC):
    """A child process, from its start to its reaping. Event handlers record in its attributes what happens to it."""

    def __init__(self, role: str, generation: int, pid: int) -> None:
        """
        Args:
            role: front, worker, player, books, tls, fetcher or trial.
            generation: unique among the processes of one supervisor.
        """
        self.role = role
        self.generation = generation
        self.pid = pid
        self.started = 0.0
        """Start in monotonic seconds."""
        self.attentive = False
        """True once the process has sent a message: it handles messages."""
        self.order_open = False
        """True while a worker hasn't answered its last `Load`."""
        self.progressed = False
        """True once the process has sent `ChildProgress`."""
        self.able = False
        """True once a front could serve."""
        self.ending = False
        """True once the process was asked to end."""

        self.load: Load | None = None
        """The last order to load an engine that a worker was given; None before the first."""
        self.loading = ""
        """The execution provider that a worker reported last as being loaded; empty before."""
        self.ready: ChildReady | None = None
        """A worker's message that its engine is loaded; None until it comes."""

        self.told: dict[type, ControlMessage] = {}
        """The last message of each kind about the server's state that a front was sent."""
        self.channels: dict[int, bool] = {}
        """Generations of the workers with which a front shares a channel; True once it was told that the worker
        drains."""
        self.hung = False
        """True once the process was ended because it hangs."""
        self.killed_from_outside = False
        """True if a SIGKILL ended the process that neither the supervisor sent because it hangs, nor the system for
        want of memory. Known after reaping, where the system tells."""
        self.in_flight = TextsInFlight()
        """The texts that a front was working on when it ended; known after reaping."""

    @property
    def engine(self) -> EngineInfo:
        assert self.ready is not None
        return self.ready.engine

    def placed(self, priority: Priority) -> None:
        """Note that a ready worker was moved to another slot's share of the machine."""
        if self.ready:
            engine = msgspec.structs.replace(self.engine, priority=priority)
            self.ready = msgspec.structs.replace(self.ready, engine=engine)

    @abstractmethod
    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        """Send a message; returns False if the child is dead or hasn't read its messages for long."""

    @abstractmethod
    def activity(self) -> Activity | None:
        """The child's use of the processor; None if it is unknown."""

    @abstractmethod
    def dump_stacks(self) -> None:
        """Make the child write its threads' stacks to the log, even if it is in an endless loop, or a worker that is
        stopped."""

    @abstractmethod
    def kill(self) -> None:
        """Kill the child with SIGKILL. Its end is reported like any other."""

    @abstractmethod
    def reap(self) -> int:
        """Reap the child after its end was reported, close every descriptor, and return its exit status (negative: the
        signal)."""


Spawner = Callable[[str, int, str], Incarnation]
"""Starts a child of a role, with its generation and the object of its work, if any (a trial's execution provider)."""

log = logging.getLogger(__name__)

OWN_FAULT = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
"""Signals that a process causes itself. SIGKILL comes from outside: the system, a person, the supervisor."""

KILL_GRACE = 2.0
"""Seconds beyond its own time limit after which a child that should end is killed."""

DUMP_GRACE = 0.2
"""Seconds that a hanging worker has to write its stacks to the log before it is killed. No other process waits for
it."""


class Nursery:
    """Starts and numbers children, and enforces the end of those that should end."""

    def __init__(self, spawn: Spawner, timers: Timers) -> None:
        self._spawn = spawn
        self._timers = timers
        self._generations = itertools.count(1)
        self.children: list[Incarnation] = []

    def start(self, role: str, subject: str = "") -> Incarnation:
        """Start a child. `subject`: the execution provider that a trial tries."""
        child = self._spawn(role, next(self._generations), subject)
        child.started = self._timers.clock()
        self.children.append(child)
        log.info("started %s[%d], pid %d", role, child.generation, child.pid)
        return child

    def reap(self, child: Incarnation) -> int:
        """Reap a child whose end was reported, and return its exit status."""
        self.children.remove(child)
        return child.reap()

    def end(
        self, child: Incarnation, limit: float = KILL_GRACE, *, replaced: bool = False, seconds: float | None = None
    ) -> None:
        """Ask the child to end; kill it if it can't be asked, or still runs after `limit` seconds.

        Repeated calls have no further effect.

        Args:
            replaced: another process has taken the child's place.
            seconds: that a front's answers have, if not `--drain-timeout`.
        """
        if child.ending:
            return
        child.ending = True
        if not child.send(Drain(replaced, seconds)):
            child.kill()
        self.kill_after(child, limit)

    def kill_after(self, child: Incarnation, delay: float = DUMP_GRACE) -> None:
        """Kill a child that is no longer needed, by default after the time that it may need to write its stacks."""
        self._timers.after(delay, lambda: child.kill() if child in self.children else None)


def ended(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


MANY = 2
"""Crashes on one provider after which it is given up: a single crash may be a segment's fault, and
segments have a limit of their own."""


class ProviderFailures:
    """Providers that later workers do without. A crash in a native library doesn't show which provider caused it."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        """The reason for each provider that was given up."""
        self._crashes: Counter[str] = Counter()

    def give_up(self, provider: str, reason: str) -> None:
        log.error("%s is given up: %s", provider, reason)
        self.reasons[provider] = reason

    def crashed(self, provider: str, status: int) -> bool:
        """Count the end of a worker that spoke, or that loaded to speak; returns True if its provider is given up for
        it.

        Args:
            provider: as onnxruntime names it, or `native`; empty if nobody knows.
            status: an exit status; minus a signal's number, if one ended it.
        """
        if provider in (CPU, "native", "") or -status not in OWN_FAULT:
            return False
        self._crashes[provider] += 1
        if self._crashes[provider] < MANY:
            return False
        how = signal.Signals(-status).name
        self.give_up(provider, f"{self._crashes[provider]} workers that ran on it have crashed, the last with {how}")
        return True
