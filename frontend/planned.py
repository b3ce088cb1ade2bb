"""A stream's segments on their way: planned, dispatched, sealed block by block, done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.link import Lease, Link
from frontend.text.segment import Segment
from shm.audio import Pcm


class State(Enum):
    """A segment's life; a generation's death takes DISPATCHED back to PLANNED."""

    PLANNED = auto()
    DISPATCHED = auto()
    DONE = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class SealedBlock:
    """Samples that the front owns, whoever dies: committed and checked."""

    pieces: tuple[Pcm, ...]
    """One view into the ring, or two where the block wraps."""
    link: Link
    lease: Lease
    end: int
    """The ring position after it."""

    def give_back(self) -> None:
        """The listener has taken it: the room is the worker's again."""
        self.link.release(self.lease, self.end)


@dataclass(eq=False)
class PlannedSegment:
    """One segment of one stream."""

    index: int
    segment: Segment
    estimate: int
    """Samples that it is expected to have."""
    state: State = State.PLANNED
    link: Link | None = None
    lease: Lease | None = None
    sealed: int = 0
    """Samples sealed so far, by whichever generation: the next one starts here."""
    promised: int = 0
    """Its part of `lease.promised`."""
    blocks: deque[SealedBlock] = field(default_factory=deque)
    deaths: int = 0
    """Generations that died while they had it."""
    touched: float | None = None
    """While a lane works at it: since when, on the event loop's clock."""

    @property
    def suspect(self) -> bool:
        """A generation died while it had this segment, and it hasn't been made since."""
        return self.deaths > 0 and self.state in (State.PLANNED, State.DISPATCHED)

    def dispatched(self, link: Link, lease: Lease) -> None:
        self.state = State.DISPATCHED
        self.link = link
        self.lease = lease
        self.promised = max(self.estimate - self.sealed, 0)
        lease.promised += self.promised

    def seal(self, block: SealedBlock, samples: int) -> None:
        self.touched = None
        self.blocks.append(block)
        self.sealed += samples
        block.lease.sealed += samples
        self._settle(min(samples, self.promised))

    def ended(self, state: State) -> None:
        """The worker has nothing more of it: all of it was sealed (DONE), or the rest can't be made (FAILED)."""
        self.state = state
        self._settle(self.promised)

    def orphaned(self, to_blame: bool) -> None:
        """The generation that had it is gone: what is sealed stays, the rest is planned again."""
        self.state = State.PLANNED
        self.link = self.lease = None
        self.promised = 0
        self.touched = None
        self.deaths += to_blame

    def _settle(self, samples: int) -> None:
        assert self.lease is not None
        self.promised -= samples
        self.lease.promised -= samples
