"""A stream's segment with its state: planned, dispatched, sealed block by block, done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.streams.cache.entry import CachedSegment
from frontend.streams.link import Link
from frontend.streams.loss import Loss
from frontend.streams.rings import Lease
from frontend.streams.sealed_block import SealedBlock
from shm.audio import Pcm
from shm.marks import Mark
from text.words.performer import Performer
from text.words.segment import Segment


class SegmentState(Enum):
    """A segment's states; the death of the generation that has it changes DISPATCHED back to PLANNED."""

    PLANNED = auto()
    DISPATCHED = auto()
    DONE = auto()
    FAILED = auto()


@dataclass(eq=False)
class PlannedSegment:
    """One segment of one stream, and the audio made of it so far."""

    segment: Segment
    performer: Performer
    speed: float
    """The pace at which the segment is spoken: the request's speed times the markup's rate and the performer's."""
    estimate: int
    """Expected number of samples."""
    key: bytes = b""
    """The segment's `frontend.scheduling.planned_segment`: equal keys mean equal samples."""
    kept: list[Pcm] | None = None
    """Copies of all sealed samples if the segment is to be cached, else None."""
    index: int = -1
    """Index in the stream, from 0; `SegmentQueue` sets it."""
    state: SegmentState = SegmentState.PLANNED
    link: Link | None = None
    """The generation that has the segment, or made it."""
    lease: Lease | None = None
    """The ring that holds its blocks."""
    sealed: int = 0
    """Samples sealed so far, by any generation: the next generation starts here."""
    reserved: int = 0
    """The segment's part of `lease.reserved`, in samples."""
    blocks: deque[SealedBlock] = field(default_factory=deque)
    """Sealed blocks that the listener hasn't taken."""
    taken: int = 0
    """Samples that the listener has taken."""
    marks: list[Mark] = field(default_factory=list)
    marks_of: Link | None = None
    """The generation that sent the last of `marks`; one that resumes the segment sends those of the rest again."""
    deaths: int = 0
    """Number of generations lost in a row while they worked on the segment, without a block sealed in between."""
    hangs: int = 0
    """Number of `deaths` that the watchdog decided."""
    _sealed_at_death: int = -1
    touched: float | None = None
    """Time at which an inference thread took up the current block, on the event loop's clock; None between blocks."""
    side_by_side: list[int] = field(default_factory=list)
    """Number of segments that the worker was making when each block was begun, this one included."""
    flushes: int = 0
    """Flushes of a growing text directly after the segment."""
    resumed: bool = False
    """True if a generation that had the segment was lost, for any cause."""

    @property
    def suspect(self) -> bool:
        """True if a generation died while making this segment, and none has finished it since."""
        return self.deaths > 0 and self.state in (SegmentState.PLANNED, SegmentState.DISPATCHED)

    @property
    def length(self) -> int:
        """The segment's samples: the sealed ones once it is done, until then at least as many as expected."""
        return self.sealed if self.state is SegmentState.DONE else max(self.estimate, self.sealed)

    def is_at(self, link: Link) -> bool:
        """True if that generation has the segment and hasn't ended it."""
        return self.state is SegmentState.DISPATCHED and self.link is link

    def load(self, now: int) -> float:
        """The mean number of segments that the worker made at once while it made this one.

        Args:
            now: how many are being made at its end.
        """
        seen = [*self.side_by_side, max(now, 1)]
        return sum(seen) / len(seen)

    def dispatched(self, link: Link, lease: Lease) -> None:
        """Mark the segment as dispatched to a generation, and reserve room in the ring for the rest of it."""
        self.state = SegmentState.DISPATCHED
        self.link = link
        self.lease = lease
        self.reserved = max(self.estimate - self.sealed, 0)
        lease.reserved += self.reserved
        lease.last = self.index

    def recalled(self, segment: CachedSegment) -> None:
        """Take the samples from the cache: no worker is needed."""
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
        """Copy the segment's unread blocks out of that ring into the front's own memory."""
        for place, block in enumerate(self.blocks):
            if block.lease is lease:
                self.blocks[place] = SealedBlock(tuple(piece.copy() for piece in block.pieces))

    def ended(self, state: SegmentState) -> None:
        """Mark the segment as ended at the worker: all samples are sealed (DONE), or the rest can't be made
        (FAILED)."""
        self.state = state
        self._unreserve(self.reserved)

    def orphaned(self, loss: Loss) -> None:
        """Mark the segment's generation as lost: sealed samples stay, the rest is to be dispatched again.

        Only a segment in an inference thread can have ended the worker.
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
