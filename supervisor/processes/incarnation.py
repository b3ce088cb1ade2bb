"""One process that the supervisor started, with the facts that are known about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from shm.engine_info import EngineInfo, Priority
from shm.in_flight import TextsInFlight
from shm.messages import ChildReady, ControlMessage, Load


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
            role: front, worker, player, books, fetcher or trial.
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
        self.in_flight = TextsInFlight()
        """The texts that a front was working on when it ended; known after reaping."""

    @property
    def engine(self) -> EngineInfo:
        """The engine of a worker that is ready."""
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


class Spawner(Protocol):
    """Starts children. The lifecycle tests use one that starts no processes."""

    def __call__(self, role: str, generation: int, subject: str = "") -> Incarnation:
        """`subject`: the object of the role's work, if any (a trial's execution provider)."""
        ...
