"""A stream's segments in order, each with its state: planned, dispatched, sealed block by block, done."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile

from frontend.streams.cache import CachedSegment
from frontend.streams.links import Lease, Link, Loss
from shm.audio import FASTEST, SLOWEST, Pcm
from shm.inflection import InflectedSpan
from shm.timing import Mark
from text.words.performer import Performer
from text.words.segment import Segment


def segment_speed(requested: float, rate: float) -> float:
    """The request's speed times the rate that its markup asks for, within the paces that engines take.

    >>> segment_speed(2.0, 3.0)
    5.0
    """
    return min(max(requested * rate, SLOWEST), FASTEST)


@dataclass(frozen=True, slots=True)
class SealedBlock:
    """Committed samples whose CRC the front has checked."""

    pieces: tuple[Pcm, ...]
    """One view into the ring, or two if the block wraps; memory of the front's own if the block is from the cache."""
    link: Link | None = None
    lease: Lease | None = None
    end: int = 0
    """The ring position after the block."""

    def give_back(self) -> None:
        """Tell the worker that the listener has taken the block, so its room in the ring is free again."""
        if self.link and self.lease:
            self.link.release(self.lease, self.end)


class SegmentState(Enum):
    """A segment's states; the death of the generation that has it changes DISPATCHED back to PLANNED."""

    PLANNED = auto()
    DISPATCHED = auto()
    DONE = auto()
    FAILED = auto()


@dataclass(eq=False)
class StreamSegment:
    """One segment of one stream, and the audio made of it so far."""

    segment: Segment
    performer: Performer
    speed: float
    """The pace at which the segment is spoken: the request's speed times the markup's rate and the performer's."""
    estimate: int
    """Expected number of samples."""
    inflected: tuple[InflectedSpan, ...] = ()
    """The parts of the script that are to be said otherwise than the engine would say them."""
    key: bytes = b""
    """The segment's `frontend.scheduling.dispatcher.fingerprint`: equal keys mean equal samples."""
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
        """True if a generation died while making this segment, and none has got further with it since."""
        undone = self.state in (SegmentState.PLANNED, SegmentState.DISPATCHED)
        return undone and self.deaths > 0 and self.sealed == self._sealed_at_death

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
        """Take the samples from the cache: no worker is needed, or only for those that follow."""
        if segment.whole:
            self.state = SegmentState.DONE
        else:
            self.resumed = True
        self.sealed = len(segment.samples)
        self.marks = list(segment.marks)
        if self.sealed:
            self.blocks.append(SealedBlock((segment.samples,)))

    def seal(self, block: SealedBlock, samples: int) -> None:
        """Take over a checked block of that many samples."""
        assert block.lease is not None
        self.touched = None
        self.blocks.append(block)
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


class SegmentQueue(deque[StreamSegment]):
    """Queue of segments: `add` numbers and appends them; `heard` removes them on the left."""

    def __init__(self) -> None:
        super().__init__()
        self.numbered = 0
        """Number of segments added so far, which is the next one's index."""
        self.replaced_at = -1
        """Index of the last segment that was planned again because its listener was about to run dry."""
        self.last_heard_from: Link | None = None
        """The generation that made the last heard segment; None while none was heard but cached ones."""

    def add(self, segment: StreamSegment) -> None:
        segment.index = self.numbered
        self.numbered += 1
        self.append(segment)

    def heard(self) -> None:
        """Remove the first segment, and remember which generation made it."""
        self.last_heard_from = self.popleft().link or self.last_heard_from

    def replace(self, replaced: Sequence[StreamSegment], segments: Sequence[StreamSegment]) -> None:
        """Replace segments that no worker has begun; the segments after them are numbered again."""
        place = self.index(replaced[0])
        later = list(self)[place:]
        assert later[: len(replaced)] == list(replaced)
        for _ in later:
            self.pop()
        self.replaced_at = self.numbered = replaced[0].index
        segments[-1].flushes += sum(segment.flushes for segment in replaced)
        for segment in [*segments, *later[len(replaced) :]]:
            self.add(segment)

    @property
    def head(self) -> StreamSegment | None:
        return self[0] if self else None

    @property
    def next(self) -> StreamSegment | None:
        """The first segment that no worker has; segments are dispatched in order."""
        return next(self.waiting(), None)

    def waiting(self) -> Iterator[StreamSegment]:
        """The segments that no worker has."""
        return (segment for segment in self if segment.state is SegmentState.PLANNED)

    def dispatched(self) -> Iterator[StreamSegment]:
        """The segments that some worker has and hasn't ended."""
        return (segment for segment in self if segment.state is SegmentState.DISPATCHED)

    def at(self, link: Link) -> Iterator[StreamSegment]:
        """The segments that this worker has and hasn't ended: it writes the blocks of the first one next."""
        return (segment for segment in self if segment.is_at(link))

    def find(self, index: int) -> StreamSegment | None:
        return next((segment for segment in self if segment.index == index), None)

    @property
    def ready(self) -> int:
        """Samples that are made and that the listener hasn't taken."""
        return sum(segment.sealed - segment.taken for segment in self)

    def samples_before(self, wanted: StreamSegment) -> int:
        """Samples that the listener hears before that segment, as far as they are known or expected."""
        before = 0
        for segment in self:
            if segment is wanted:
                break
            before += segment.length - segment.taken
        return before

    def unbegun(self) -> list[StreamSegment]:
        """The end of the queue: the segments of which no worker has made anything."""
        later = takewhile(lambda each: each.state is SegmentState.PLANNED and not each.resumed, reversed(self))
        return list(later)[::-1]

    # Segments lie in a ring in the order of their stream. If a worker dies and its segment must go to a worker that
    # has a later one already, the stream needs another ring there, or the same one after its unread samples were copied
    # out.

    def has_room(self, link: Link, stream: int, segment: StreamSegment) -> bool:
        """True if the stream's ring at that worker has room for the whole segment, or can get it.

        An empty ring has room for any segment: a segment longer than the ring is written as its listener takes it.
        """
        lease = link.rings.leases.get(stream)
        if lease and lease.last > segment.index:
            return link.rings.has_free or self._can_take_out(lease)
        lease = link.rings.lease(stream)
        if lease is None:
            return False
        return segment.estimate - segment.sealed <= lease.room or lease.empty

    def take_out(self, lease: Lease) -> bool:
        """Copy the unread samples out of the ring, so that it is free; returns False if that isn't possible now."""
        if not self._can_take_out(lease):
            return False
        for segment in self:
            segment.take_out(lease)
        return True

    def _can_take_out(self, lease: Lease) -> bool:
        """True if all unread samples of the ring are queued: the listener is in the middle of none of its blocks."""
        blocks = (block for segment in self for block in segment.blocks if block.lease is lease)
        return sum(len(piece) for block in blocks for piece in block.pieces) == lease.sealed - lease.released

    def stuck_after(self, wanted: StreamSegment, link: Link) -> int:
        """Number of later segments that the worker can't continue until the wanted one was heard, because their ring is
        full."""
        later = (segment for segment in self.at(link) if segment.index > wanted.index)
        return sum(segment.lease is not None and segment.lease.full for segment in later)
