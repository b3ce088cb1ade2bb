"""A stream's segment on its way: planned, dispatched, sealed block by block, done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.streams.cache.entry import CachedSegment
from frontend.streams.link import Link
from frontend.streams.loss import Loss
from frontend.streams.rings import Lease
from frontend.streams.sealed_block import SealedBlock
from frontend.text.segment import Segment
from shm.audio import Pcm
from shm.messages import Mark


class SegmentState(Enum):
    """A segment's life; the death of the generation that has it takes DISPATCHED back to PLANNED."""

    PLANNED = auto()
    DISPATCHED = auto()
    DONE = auto()
    FAILED = auto()


@dataclass(eq=False)
class PlannedSegment:
    """One segment of one stream, and what has been made of it."""

    segment: Segment
    speed: float
    """The pace at which it is spoken: the request's times what its markup asks for."""
    estimate: int
    """Samples that it is expected to have."""
    key: bytes = b""
    """`frontend.scheduling.fingerprint`: the same key means the same samples."""
    kept: list[Pcm] | None = None
    """Copies of all sealed samples if the segment is to be cached, else None."""
    index: int = -1
    """Place in the stream, from 0; `SegmentQueue` sets it."""
    state: SegmentState = SegmentState.PLANNED
    link: Link | None = None
    """The generation that has it, or made it."""
    lease: Lease | None = None
    """The ring that its blocks lie in."""
    sealed: int = 0
    """Samples sealed so far, by whichever generation: the next generation starts here."""
    reserved: int = 0
    """Its part of `lease.reserved`, in samples."""
    blocks: deque[SealedBlock] = field(default_factory=deque)
    """Sealed blocks that the listener hasn't taken."""
    taken: int = 0
    """Samples that the listener has taken."""
    marks: list[Mark] = field(default_factory=list)
    marks_of: Link | None = None
    """The generation that sent `marks`; a generation that resumes the segment sends all of them again."""
    deaths: int = 0
    """Generations that were lost while they worked at it, one after another without a block sealed in between."""
    hangs: int = 0
    """Of `deaths`, those that the watchdog decided."""
    _sealed_at_death: int = -1
    touched: float | None = None
    """When an inference thread took up its present block, on the event loop's clock; None between blocks."""
    side_by_side: list[int] = field(default_factory=list)
    """For each of its blocks, how many segments the worker was making when the block was begun, this one included."""
    resumed: bool = False
    """A generation lost it, whether or not this segment was to blame."""

    @property
    def suspect(self) -> bool:
        """Whether a generation died at this segment, and none has made it since."""
        return self.deaths > 0 and self.state in (SegmentState.PLANNED, SegmentState.DISPATCHED)

    @property
    def length(self) -> int:
        """Its samples: those sealed once it is done, until then at least as many as expected."""
        return self.sealed if self.state is SegmentState.DONE else max(self.estimate, self.sealed)

    def is_at(self, link: Link) -> bool:
        """Whether that generation has the segment and hasn't ended it."""
        return self.state is SegmentState.DISPATCHED and self.link is link

    def load(self, now: int) -> float:
        """The mean number of segments made side by side while it was made.

        Args:
            now: how many are being made at its end.
        """
        seen = [*self.side_by_side, max(now, 1)]
        return sum(seen) / len(seen)

    def dispatched(self, link: Link, lease: Lease) -> None:
        """A generation has it now, and the ring keeps room for the rest of it."""
        self.state = SegmentState.DISPATCHED
        self.link = link
        self.lease = lease
        self.reserved = max(self.estimate - self.sealed, 0)
        lease.reserved += self.reserved
        lease.last = self.index

    def recalled(self, segment: CachedSegment) -> None:
        """The cache has it: no worker is needed."""
        self.state = SegmentState.DONE
        self.sealed = len(segment.samples)
        self.marks = list(segment.marks)
        if self.sealed:
            self.blocks.append(SealedBlock((segment.samples,)))

    def seal(self, block: SealedBlock, samples: int) -> None:
        """Take over a checked block of that many samples."""
        assert block.lease is not None
        self.touched = None
        self.blocks.append(block)
        if self.kept is not None:
            self.kept += [piece.copy() for piece in block.pieces]
        self.sealed += samples
        block.lease.sealed += samples
        self._unreserve(min(samples, self.reserved))

    def take_out(self, lease: Lease) -> None:
        """Copy its unread blocks out of that ring into memory of the front's own."""
        for place, block in enumerate(self.blocks):
            if block.lease is lease:
                self.blocks[place] = SealedBlock(tuple(piece.copy() for piece in block.pieces))

    def ended(self, state: SegmentState) -> None:
        """The worker has nothing more of it: all samples are sealed (DONE), or the rest can't be made (FAILED)."""
        self.state = state
        self._unreserve(self.reserved)

    def orphaned(self, loss: Loss) -> None:
        """The generation that had it is gone: sealed samples stay, the rest is to be dispatched again.

        Only a segment that an inference thread was at can have ended the worker.
        """
        if self.touched is not None and loss is not Loss.INNOCENT:
            if self.sealed != self._sealed_at_death:  # a text that kills workers does so at the same place each time
                self.deaths = self.hangs = 0
                self._sealed_at_death = self.sealed
            self.deaths += 1
            self.hangs += loss is Loss.HANG
        self.state = SegmentState.PLANNED
        self.link = self.lease = self.marks_of = None
        self.reserved = 0
        self.touched = None
        self.resumed = True

    def _unreserve(self, samples: int) -> None:
        assert self.lease is not None
        self.reserved -= samples
        self.lease.reserved -= samples
