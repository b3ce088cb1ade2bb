"""Output of a stream from the worker: samples into its ring, records into the commits pipe, both in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from shm.killpoint import killpoint
from shm.marks import MAX_MARKS, Mark, pack_marks
from shm.messages import Commit, CommitMessage, Done, Failed, Marks, SegmentOrder, clipped
from shm.ring import RingWriter
from worker.segment_work import SegmentWork

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
        samples = segment.unwritten[0]
        part = samples[: min(self.ring.room, MAX_COMMIT_SAMPLES)]
        position, crc32 = self.ring.write(part)
        killpoint("written")
        order = segment.order
        self.send(Commit(order.generation, order.stream, order.segment, segment.sealed, position, len(part), crc32))
        killpoint("committed")
        segment.sealed += len(part)
        if len(part) == len(samples):
            segment.unwritten.popleft()
        else:
            segment.unwritten[0] = samples[len(part) :]

    def _finish(self, segment: SegmentWork) -> None:
        order = segment.order
        ids = order.generation, order.stream, order.segment
        killpoint("before-done")
        if segment.failure:
            self.send(Failed(*ids, clipped(segment.failure)))
        else:
            self.send(Done(*ids, segment.sealed, segment.seconds, segment.prosody_seconds))
