"""A stream's segments on their way: planned, dispatched, sealed block by block, done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.streams.cache.entry import CachedSegment
from frontend.streams.link import Lease, Link
from frontend.text.segment import Segment
from shm.audio import Pcm
from shm.messages import Mark


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
    """One view into the ring, or two where the block wraps; the front's own memory where it comes from the cache."""
    link: Link | None = None
    lease: Lease | None = None
    end: int = 0
    """The ring position after it."""

    def give_back(self) -> None:
        """The listener has taken it: the room is the worker's again."""
        if self.link and self.lease:
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
    taken: int = 0
    """Samples of it that its listener has."""
    marks: list[Mark] = field(default_factory=list)
    marks_of: Link | None = None
    """Whose they are: a generation that resumes the segment tells all of them again."""
    kept: list[Pcm] | None = None
    """All of it that was sealed, in memory of our own, where it is to be cached."""
    key: bytes = b""
    """`frontend.scheduling.fingerprint`."""
    cached: bool = False
    deaths: int = 0
    """Generations that died while they had it."""
    touched: float | None = None
    """While a lane works at it: since when, on the event loop's clock."""
    side_by_side: list[int] = field(default_factory=list)
    """How many segments the lanes were at, this one included, whenever one of its blocks was begun."""
    resumed: bool = False
    """A generation lost it, whether that was its fault or not."""

    @property
    def suspect(self) -> bool:
        """A generation died while it had this segment, and it hasn't been made since."""
        return self.deaths > 0 and self.state in (State.PLANNED, State.DISPATCHED)

    def load(self, now: int) -> float:
        """The mean number of segments made side by side while it was made; `now` at its end."""
        seen = [*self.side_by_side, max(now, 1)]
        return sum(seen) / len(seen)

    def dispatched(self, link: Link, lease: Lease) -> None:
        self.state = State.DISPATCHED
        self.link = link
        self.lease = lease
        self.promised = max(self.estimate - self.sealed, 0)
        lease.promised += self.promised
        lease.last = self.index

    @property
    def length(self) -> int:
        """Its samples: as many as were sealed once it is done, till then at least as many as are expected."""
        return self.sealed if self.state is State.DONE else max(self.estimate, self.sealed)

    def recalled(self, segment: CachedSegment) -> None:
        """It was spoken before."""
        self.state = State.DONE
        self.cached = True
        self.sealed = len(segment.samples)
        self.marks = list(segment.marks)
        if self.sealed:
            self.blocks.append(SealedBlock((segment.samples,)))

    def seal(self, block: SealedBlock, samples: int) -> None:
        assert block.lease is not None
        self.touched = None
        self.blocks.append(block)
        if self.kept is not None:
            self.kept += [piece.copy() for piece in block.pieces]
        self.sealed += samples
        block.lease.sealed += samples
        self._settle(min(samples, self.promised))

    def take_out(self, lease: Lease) -> None:
        """Copy what is unread of it in that ring."""
        for place, block in enumerate(self.blocks):
            if block.lease is lease:
                self.blocks[place] = SealedBlock(tuple(piece.copy() for piece in block.pieces))

    def ended(self, state: State) -> None:
        """The worker has nothing more of it: all of it was sealed (DONE), or the rest can't be made (FAILED)."""
        self.state = state
        self._settle(self.promised)

    def orphaned(self, to_blame: bool) -> None:
        """The generation that had it is gone: what is sealed stays, the rest is planned again."""
        self.state = State.PLANNED
        self.link = self.lease = self.marks_of = None
        self.promised = 0
        self.touched = None
        self.resumed = True
        self.deaths += to_blame

    def _settle(self, samples: int) -> None:
        assert self.lease is not None
        self.promised -= samples
        self.lease.promised -= samples
