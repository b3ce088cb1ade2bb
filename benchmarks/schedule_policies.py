"""Who is taken and whose block is made next: the rules that the simulator compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from frontend.scheduling.demand import Demand, wait_for_room

FIRST_AUDIO_TARGET = 0.3
"""Seconds from a request to its first sample, as it is due."""


@dataclass(frozen=True, slots=True)
class Costs:
    """An engine with one lane. Seconds."""

    per_token: float = 0.027
    """Of work: MODEL.md, fp32 on two threads."""
    audio_per_token: float = 0.0695
    block: float = 0.0
    """Of audio in one block, from an engine that vocodes in windows; 0: segments are blocks."""

    @property
    def real_time_factor(self) -> float:
        return self.per_token / self.audio_per_token


@dataclass(frozen=True, slots=True)
class Request:
    """One that comes."""

    arrival: float
    """Seconds."""
    tokens: int
    client: str
    whole: bool = False
    """Collected before it is heard: nobody listens while it is made."""


@dataclass
class Stream:
    """One that was taken. Times are simulated seconds."""

    request: Request
    audio: float
    """Seconds of it, in all."""
    blocks: list[float]
    """Seconds of audio in each that is still to be made."""
    due: float
    """When its first sample is wanted."""
    before: Stream | None = None
    """The one of the same listener that is heard before it."""
    made: float = 0.0
    """Seconds of audio."""
    starts: float | None = None
    """When its listener hears its first sample."""
    first_made: float | None = None
    dry_at: float = 0.0
    """When its listener has heard all that was made."""
    ended: float | None = None
    served: float = -1.0
    """When a block of it was begun last."""
    gaps: list[float] = field(default_factory=list)

    @property
    def deadline(self) -> float:
        """When its next block is wanted."""
        return self.due + self.made if self.starts is None or self.request.whole else self.dry_at

    @property
    def left(self) -> float:
        """Seconds of audio to be made."""
        return self.audio - self.made


class Policy(Protocol):
    """The rules of one scheduler. Pure: what it is given is all that it knows."""

    name: str

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        """Seconds after which the newcomer should ask again; 0: it is taken.

        Args:
            streams: those that were taken and of which something is still to be made.
        """
        ...

    def choose(self, now: float, streams: Sequence[Stream]) -> Stream:
        """Whose next block is made. `streams` has at least one."""
        ...


class FirstComeFirstServed:
    """An earlier request before a later one, while its listener has room: a server with a lock around its model."""

    name = "first come, first served"

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        return 0.0

    def choose(self, now: float, streams: Sequence[Stream]) -> Stream:
        return min(streams, key=lambda stream: stream.request.arrival)


class RoundRobin:
    """A block of each in turn."""

    name = "round robin"

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        return 0.0

    def choose(self, now: float, streams: Sequence[Stream]) -> Stream:
        return min(streams, key=lambda stream: (stream.served, stream.request.arrival))


class EarliestDeadlineFirst:
    """Whoever runs dry next; nobody is sent away."""

    name = "earliest deadline first"

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        return 0.0

    def choose(self, now: float, streams: Sequence[Stream]) -> Stream:
        return min(streams, key=lambda stream: (stream.deadline, stream.request.arrival))


class AdmittedByDemand(EarliestDeadlineFirst):
    """The same, and only those are taken who can be served in time: the test that the front makes."""

    name = "earliest deadline first, with admission"

    def __init__(self, costs: Costs) -> None:
        self._costs = costs

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        own = newcomer.blocks[0] * self._costs.real_time_factor
        due = max(newcomer.due, now + 2 * own + FIRST_AUDIO_TARGET)
        wish = self._demand(newcomer, due)
        return wait_for_room(now, [self._demand(each, each.deadline) for each in streams], wish, threads=1)

    def _demand(self, stream: Stream, dry_at: float) -> Demand:
        return Demand(dry_at, stream.left, self._costs.real_time_factor, stream.blocks[0])
