"""One process that the supervisor started, and the interface through which lifecycle logic sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shm.messages import ControlMessage, EngineInfo


class Incarnation(Protocol):
    """A child process, from its start to its reaping."""

    role: str
    """front, worker or fetcher."""
    generation: int
    """Unique among the processes of one supervisor."""
    pid: int
    engine: EngineInfo | None
    """What a worker said when it was ready."""

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        """False if the child can't be told: it is dead, or hasn't listened for long."""
        ...

    def kill(self) -> None:
        """SIGKILL. Its end is reported like any other."""
        ...

    def reap(self) -> int:
        """Its exit status (negative: the signal), after its end was reported. Every descriptor is given back."""
        ...


class Spawner(Protocol):
    """Starts children. The lifecycle tests have one that starts nothing."""

    def __call__(self, role: str, generation: int) -> Incarnation: ...
