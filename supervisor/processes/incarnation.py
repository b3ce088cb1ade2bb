"""One process that the supervisor started, and the interface through which lifecycle logic sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shm.in_flight import TextsInFlight
from shm.messages import ControlMessage, Ready


class Incarnation(Protocol):
    """A child process, from its start to its reaping."""

    role: str
    """The process's role: front, worker, player, books, fetcher or trial."""
    generation: int
    """Unique among the processes of one supervisor."""
    pid: int
    ready: Ready | None
    """A worker's message that its engine is loaded; None until it comes."""
    loading: str
    """The execution provider that a worker reported last as being loaded; empty before."""
    progressed: bool
    """True once the process has sent `Progress`."""
    in_flight: TextsInFlight
    """The texts that a front was working on when it ended; known after reaping."""

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        """Send a message; returns False if the child is dead or hasn't read its messages for long."""
        ...

    def dump_stacks(self) -> None:
        """Make the child write its threads' stacks to the log, even if it is stopped or in an endless loop."""
        ...

    def kill(self) -> None:
        """Kill the child with SIGKILL. Its end is reported like any other."""
        ...

    def reap(self) -> int:
        """Reap the child after its end was reported, close every descriptor, and return its exit status (negative: the
        signal)."""
        ...


class Spawner(Protocol):
    """Starts children. The lifecycle tests use one that starts no processes."""

    def __call__(self, role: str, generation: int, subject: str = "") -> Incarnation:
        """`subject`: the object of the role's work, if any (a trial's execution provider)."""
        ...
