"""One process that the supervisor started, and the interface through which lifecycle logic sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shm.in_flight import TextsInFlight
from shm.messages import ControlMessage, Ready


class Incarnation(Protocol):
    """A child process, from its start to its reaping."""

    role: str
    """front, worker, fetcher or trial."""
    generation: int
    """Unique among the processes of one supervisor."""
    pid: int
    ready: Ready | None
    """A worker's message that its engine is loaded; None until it comes."""
    loading: str
    """The execution provider for which a worker said last that it loads; empty before."""
    progressed: bool
    """It has said `Progress`."""
    in_flight: TextsInFlight
    """The texts that a front had in the works when it ended; known when it is reaped."""

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        """False if the child can't be told: it is dead, or hasn't listened for long."""
        ...

    def dump_stacks(self) -> None:
        """Have it write the stacks of its threads to the log, even if it is stopped or in an endless loop."""
        ...

    def kill(self) -> None:
        """SIGKILL. Its end is reported like any other."""
        ...

    def reap(self) -> int:
        """Its exit status (negative: the signal), after its end was reported. Every descriptor is given back."""
        ...


class Spawner(Protocol):
    """Starts children. The lifecycle tests have one that starts nothing."""

    def __call__(self, role: str, generation: int, subject: str = "") -> Incarnation:
        """`subject`: what it is about, for a role that is about something (a trial's execution provider)."""
        ...
