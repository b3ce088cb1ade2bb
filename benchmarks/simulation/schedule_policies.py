"""Scheduling policies that the simulator compares: which stream is admitted, and which block is made next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from frontend.scheduling.admission import Demand, wait_for_room

FIRST_AUDIO_TARGET = 0.3
"""Seconds from a request to its first sample, as it is due."""


@dataclass(frozen=True, slots=True)
class Costs:
    """An engine with one inference thread. Costs are in seconds."""

    per_token: float = 0.027
    """Seconds of work per token, in full precision on two threads."""
    audio_per_token: float = 0.0695
    block: float = 0.0
    """Seconds of audio in one block of an engine that vocodes in windows; 0: segments are blocks."""

    @property
    def real_time_factor(self) -> float:
        return self.per_token / self.audio_per_token


@dataclass(frozen=True, slots=True)
class Request:
    """A request that comes."""

    arrival: float
    """Seconds."""
    tokens: int
    client: str
    whole: bool = False
    """True for audio that is collected before it is heard: nobody listens while it is made."""


@dataclass
class Stream:
    """A request that was admitted. Times are simulated seconds."""

    request: Request
    audio: float
    """Seconds of it, in all."""
    blocks: list[float]
    """Seconds of audio in each that is still to be made."""
    due: float
    """Time at which the stream's first sample is due."""
    before: Stream | None = None
    """The one of the same listener that is heard before it."""
    made: float = 0.0
    """Seconds of audio."""
    starts: float | None = None
    """Time at which the listener hears the first sample; None before that is known."""
    first_made: float | None = None
    dry_at: float = 0.0
    """Time at which the listener will have heard all audio made so far."""
    ended: float | None = None
    served: float = -1.0
    """Time at which the stream's latest block was begun."""
    gaps: list[float] = field(default_factory=list)

    @property
    def deadline(self) -> float:
        """Time at which the stream's next block is due."""
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
        """The segment whose next block is made. `streams` has at least one."""
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
    """The stream that runs dry next is served next; no request is rejected."""

    name = "earliest deadline first"

    def wait(self, now: float, newcomer: Stream, streams: Sequence[Stream]) -> float:
        return 0.0

    def choose(self, now: float, streams: Sequence[Stream]) -> Stream:
        return min(streams, key=lambda stream: (stream.deadline, stream.request.arrival))


class AdmittedByDemand(EarliestDeadlineFirst):
    """Earliest deadline first, and the front's own admission test rejects requests that can't be served in time."""

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
