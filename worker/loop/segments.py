"""Segments in the worker: each one's work, and the output of their stream."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from shm.audio import Pcm
from shm.killpoint import killpoint
from shm.messages import BlockTimes, Commit, CommitMessage, Done, Failed, Marks, SegmentOrder, SpokenScript, clipped
from shm.ring import RingWriter
from shm.timing import MAX_MARKS, Mark, pack_marks
from worker.engine import Block, Engine, RunControl, Utterance

UNKNOWN_BLOCK_SECONDS = 1.0
"""Assumed time in the engine of a segment's first block, whose prosody may be long."""

HEARD_SOONER = 0.2
"""Seconds before its deadline by which a block should be made: the front trims silence at a segment's edges, so a
listener has less to hear than was made."""

ENOUGH_TO_HEAR = 1.0
"""Seconds of audio left to a listener, above which the stream's later segments may share the cores."""


@dataclass(eq=False)
class SegmentWork:
    """A segment's order and its progress. Samples are counted from the segment's sample 0."""

    order: SegmentOrder
    sample_rate: int
    """Samples per second of the engine."""
    sealed: int = 0
    """Number of committed samples, those of earlier generations included."""
    made: int = 0
    """Number of samples that the engine has made, those of earlier generations included."""
    unwritten: deque[tuple[Pcm, BlockTimes]] = field(default_factory=deque)
    """Samples that are made and for which the ring has no room yet."""
    read: float = field(default_factory=time.monotonic)
    """Monotonic seconds at which the order was read."""
    begun: float = 0.0
    """Monotonic seconds at which an inference thread took the latest block up."""
    control: RunControl = field(default_factory=RunControl)
    blocks: Generator[Block, None, None] | None = None
    """The engine's run; None before it begins and after it was closed."""
    ended: bool = False
    """True if the engine will make no more samples."""
    forgotten: bool = False
    """True if the front no longer wants the segment."""
    failure: str = ""
    seconds: float = 0.0
    """Seconds spent in the engine."""
    block_seconds: float = UNKNOWN_BLOCK_SECONDS
    """Seconds that vocoding the latest block took."""
    prosody_seconds: float = 0.0
    """The part of `seconds` before vocoding could begin."""
    delay: float = 0.0
    """Seconds after the order's first deadline at which the listener began to hear the segment; negative if before."""

    def __post_init__(self) -> None:
        self.sealed = self.made = self.order.from_sample

    @property
    def deadline(self) -> float:
        """Monotonic seconds at which the segment's next sample must be ready."""
        return self.order.first_deadline + self.delay + self.made / self.sample_rate

    @property
    def is_due(self) -> bool:
        """True if the segment's listener has little audio left. A segment that is long overdue doesn't count: its
        listener is best served by all threads, which then also make the stream's later segments."""
        return not self.ended and not self.unwritten and abs(self.deadline - time.monotonic()) < ENOUGH_TO_HEAR

    def advance(self, engine: Engine) -> Block | None:
        """The next block from the engine; None at the segment's end.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: the errors of `Engine.begin`.
        """
        if self.blocks is None:
            asked = {name: getattr(self.order, name) for name in SpokenScript.__struct_fields__}
            self.blocks = engine.begin(Utterance(**asked, control=self.control))
        return next(self.blocks, None)

    def record_time(self, seconds: float, block: Block | None) -> None:
        """Record the time that the engine took for the block, or to notice the segment's end (None)."""
        self.seconds += seconds
        if block is not None:
            self.block_seconds = seconds - block.prosody_seconds

    def take_in(self, block: Block | None, failure: str) -> None:
        """Record the engine's block, or the segment's end (None), or its failure."""
        if block is None:
            self.end(failure)
        elif block.offset != self.made:
            self.end(f"the engine gave sample {block.offset} where {self.made} was due")
        else:
            self.prosody_seconds += block.prosody_seconds
            times = BlockTimes(self.read, self.begun, block.prosody_made, block.features_made, time.monotonic())
            self.unwritten.append((block.samples, times))
            self.made += len(block.samples)
            if block.last:
                self.end()

    def begin_playback(self) -> None:
        """Note that a listener who waited in silence hears the stream from now on: its later blocks are due by that."""
        if self.order.segment == self.order.from_sample == 0:  # else the stream sounded before it came to this worker
            self.delay = time.monotonic() - self.order.first_deadline

    def end(self, failure: str = "") -> None:
        """Record that the engine will make no more samples of the segment."""
        self.ended = True
        self.failure = failure
        self.put_away()

    def put_away(self) -> None:
        """Close the engine's run. Idempotent."""
        if self.blocks is not None:
            self.blocks.close()
            self.blocks = None


MAX_COMMIT_SAMPLES = 24_000
"""Largest commit in samples: a longer block is committed in parts, so that its room becomes free in parts too."""


@dataclass(eq=False)
class StreamOutput:
    """One stream's ring, and its segments in the order in which they are written there. The workbench's lock must be
    held."""

    ring: RingWriter
    send: Callable[[CommitMessage], None]
    segments: deque[SegmentWork] = field(default_factory=deque)
    """Segments that aren't fully written yet."""
    sounds: bool = False
    """True if a block of the stream was made here, or a segment has ended without one."""

    def workable(self) -> Iterator[SegmentWork]:
        """Segments whose next block may be made. While the ring has room, later segments may be made to their ends in
        private memory; when it is full, each has one block ready."""
        full = bool(self.segments and self.segments[0].unwritten)
        return (segment for segment in self.segments if not segment.ended and not (full and segment.unwritten))

    def write(self) -> None:
        """Commit the blocks that the ring has room for, and report each finished segment."""
        while self.segments:
            segment = self.segments[0]
            while segment.unwritten and self.ring.room:
                self._commit(segment)
            if segment.unwritten or not segment.ended:
                return
            self._finish(segment)
            self.segments.popleft()

    def send_marks(self, order: SegmentOrder, marks: tuple[Mark, ...]) -> None:
        """Send a block's marks. Marks precede the commit of their block, which may have to wait for room."""
        for first in range(0, len(marks) if order.marks else 0, MAX_MARKS):
            packed = pack_marks(marks[first : first + MAX_MARKS])
            self.send(Marks(order.generation, order.stream, order.segment, packed))

    def _commit(self, segment: SegmentWork) -> None:
        samples, times = segment.unwritten[0]
        part = samples[: min(self.ring.room, MAX_COMMIT_SAMPLES)]
        position, crc32 = self.ring.write(part)
        killpoint("written")
        order, times = segment.order, replace(times, written=time.monotonic())
        ids = order.generation, order.stream, order.segment
        self.send(Commit(*ids, segment.sealed, position, len(part), crc32, times))
        killpoint("committed")
        segment.sealed += len(part)
        if len(part) == len(samples):
            segment.unwritten.popleft()
        else:
            segment.unwritten[0] = samples[len(part) :], times

    def _finish(self, segment: SegmentWork) -> None:
        order = segment.order
        ids = order.generation, order.stream, order.segment
        killpoint("before-done")
        if segment.failure:
            self.send(Failed(*ids, clipped(segment.failure)))
        else:
            self.send(Done(*ids, segment.sealed, segment.seconds, segment.prosody_seconds))
