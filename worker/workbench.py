"""The segments that the front has admitted, and the choice of the next block: the one whose deadline is nearest.

The front decides what is admitted, in which order and with which deadlines; here only the next block is chosen. No
lane ever waits for a listener: what doesn't fit into its stream's ring stays with its segment until a `Release`
makes room, and the lane goes on with another segment. A stream's blocks are written in order; a later segment may be
made ahead by one block, in private memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from shm.audio import SAMPLE_RATE, Pcm
from shm.killpoint import killpoint
from shm.messages import (
    MAX_MARKS,
    Began,
    Commit,
    CommitMessage,
    Done,
    Failed,
    Forget,
    Mark,
    Marks,
    OrderMessage,
    Release,
    SegmentOrder,
    clipped,
    pack_marks,
)
from shm.ring import Arena, RingWriter
from worker.cancellation import Cancellation
from worker.engine import Block, Cancelled, Engine, EngineError, ProviderUnavailable, Utterance

log = logging.getLogger(__name__)

MAX_COMMIT_SAMPLES = SAMPLE_RATE
"""A longer block is committed in parts, so that a listener frees its room in parts."""

ENOUGH_TO_HEAR = 1.0
"""Seconds that a listener still has to hear, from which on his stream's later segments may share the cores."""

NEARLY_DUE = 2.0
"""Seconds: a segment that is due sooner shares the cores with no study."""


@dataclass(eq=False)
class _Segment:
    """One order in the making."""

    order: SegmentOrder
    sealed: int
    """Samples committed, counted from the segment's sample 0."""
    made: int
    """Samples that the engine has given, counted likewise."""
    blocks: Generator[Block, None, None] | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    unwritten: deque[Pcm] = field(default_factory=deque)
    ended: bool = False
    forgotten: bool = False
    failure: str = ""
    seconds: float = 0.0
    prosody_seconds: float = 0.0

    @property
    def deadline(self) -> float:
        return self.order.first_deadline + self.made / SAMPLE_RATE

    @property
    def is_due(self) -> bool:
        """Its listener has little left to hear. One who has waited long since is served best by all lanes."""
        waits = not self.ended and not self.unwritten
        return waits and abs(self.deadline - time.monotonic()) < ENOUGH_TO_HEAR


@dataclass(eq=False)
class _Stream:
    """A stream's ring, and its segments in the order in which they are written there."""

    ring: RingWriter
    segments: deque[_Segment] = field(default_factory=deque)
    sounds: bool = False
    """A block of it was made here, or a segment has ended without one."""


class Workbench:
    """What one channel's front wants made. Closed with the channel; the engine outlives it.

    `send` puts a record on the commits channel; it is called under the lock, after the samples are in the ring.
    `broken` is called when the engine's execution provider has failed: no segment is to blame, and nothing works.
    """

    def __init__(
        self,
        engine: Engine,
        generation: int,
        arena: Arena,
        send: Callable[[CommitMessage], None],
        broken: Callable[[ProviderUnavailable], None],
    ) -> None:
        self._engine = engine
        self._generation = generation
        self._arena: Arena | None = arena
        self._send = send
        self._broken = broken
        self._streams: dict[int, _Stream] = {}
        self._in_lanes: set[_Segment] = set()
        """Forgotten ones too."""
        self._studying = Cancellation()
        self._to_study = False
        """A block was made since the engine said that it had nothing to learn."""
        self._studies = True
        """This is the newest bench: while another one makes what is wanted, this one can't see that."""
        self._changed = threading.Condition()
        self._closed = False
        self._vocodes_in_windows = engine.info.first_block > 0

    def handle(self, message: OrderMessage) -> None:
        """Take in what the front says. Never waits for an engine."""
        with self._changed:
            match message:
                case SegmentOrder():
                    self._admit(message)
                case Release(number, position):
                    if stream := self._streams.get(number):
                        stream.ring.release(position)
                        self._write(stream)
                case Forget(number):
                    if forgotten := self._streams.pop(number, None):
                        self._discard(forgotten)
            self._announce()

    def _admit(self, order: SegmentOrder) -> None:
        if order.generation != self._generation:
            log.error("dropped an order for generation %d", order.generation)
            return
        if self._arena is None:
            return
        stream = self._streams.get(order.stream)
        if stream is None or order.first_deadline < time.monotonic() + NEARLY_DUE:
            self._studying.set()
        if stream is None:
            stream = self._streams[order.stream] = _Stream(RingWriter(self._arena.ring(order.ring)))
        stream.segments.append(_Segment(order, sealed=order.from_sample, made=order.from_sample))

    def run_lane(self) -> None:
        """Make blocks until the bench is closed. Run by as many threads as the engine makes segments side by side."""
        while segment := self._next():
            started = time.monotonic()
            block, failure = self._advance(segment)
            killpoint("block-made")
            seconds = time.monotonic() - started
            with self._changed:
                segment.seconds += seconds
                self._take_in(segment, block, failure)
                self._announce()

    def run_studies(self) -> None:
        """Let the engine learn while there is nothing to be made, until the bench is closed, or another one learns.
        Run by one thread; what it is at is given up for a new stream and for a segment that is nearly due, not for the
        next block of a stream that has enough to be heard."""
        while cancellation := self._leisure():
            more = False
            try:
                more = self._engine.study(cancellation)
            except Cancelled:
                more = True
            except ProviderUnavailable as error:
                self._broken(error)
            except Exception:
                log.exception("the engine failed while nothing was to be made")
            with self._changed:
                self._to_study |= more

    def _leisure(self) -> Cancellation | None:
        with self._changed:
            while self._studies and not self._closed:
                if self._to_study and not self._in_lanes and not any(True for _ in self._workable()):
                    self._to_study = False
                    self._studying = Cancellation()
                    return self._studying
                self._changed.wait()
        return None

    def stop_studies(self) -> None:
        """Another bench learns from now on. Idempotent."""
        with self._changed:
            self._studies = False
            self._studying.set()
            self._changed.notify_all()

    def _next(self) -> _Segment | None:
        with self._changed:
            while not self._closed:
                if segment := min(self._workable(), key=lambda s: s.deadline, default=None):
                    self._in_lanes.add(segment)
                    self._send(Began(self._generation, segment.order.stream, segment.order.segment))
                    return segment
                self._changed.wait()
        return None

    def _workable(self) -> Iterator[_Segment]:
        for stream in self._streams.values():
            for segment in stream.segments:
                if segment not in self._in_lanes and not segment.ended and not segment.unwritten:
                    yield segment
                if self._vocodes_in_windows and (not stream.sounds or segment.is_due):
                    break  # the segments behind it would take cores from the block that is waited for

    def _announce(self) -> None:
        """Something has changed: lanes that wait look again, and those at what nobody wants are freed if there are
        more segments than other lanes."""
        lanes = self._engine.concurrency
        unwanted = [segment for segment in self._in_lanes if segment.forgotten and not segment.cancellation.is_set]
        if unwanted:
            wanted = sum(1 for _ in self._workable())
            coming = lanes - len(self._in_lanes) + sum(segment.cancellation.is_set for segment in self._in_lanes)
            for segment in unwanted[: max(wanted - coming, 0)]:
                segment.cancellation.set()
        self._changed.notify_all()

    def _advance(self, segment: _Segment) -> tuple[Block | None, str]:
        """The segment's next block, None at its end, or why there is none. No lock is held."""
        order = segment.order
        killpoint("before-block")
        try:
            if segment.blocks is None:
                segment.blocks = self._engine.begin(
                    Utterance(
                        order.script,
                        order.language,
                        order.voice,
                        order.speed,
                        order.seed,
                        order.from_sample,
                        order.marks,
                        segment.cancellation,
                    )
                )
            return next(segment.blocks, None), ""
        except Cancelled:
            return None, "the engine gave up what nobody had cancelled"  # else it is forgotten, and so is this
        except EngineError as error:
            return None, str(error)
        except ProviderUnavailable as error:
            self._broken(error)
            return None, str(error)
        except Exception as error:
            log.exception(
                "the engine failed on stream=%d segment=%d, of %d tokens",
                order.stream,
                order.segment,
                len(order.script),
            )
            return None, f"the engine failed: {type(error).__name__}: {error}"

    def _take_in(self, segment: _Segment, block: Block | None, failure: str) -> None:
        self._in_lanes.remove(segment)
        self._to_study = True
        if segment.forgotten:
            self._put_away(segment)
            return
        self._streams[segment.order.stream].sounds = True
        if block is None:
            segment.ended = True
            segment.failure = failure
        elif block.offset != segment.made:
            segment.ended = True
            segment.failure = f"the engine gave sample {block.offset} where {segment.made} was due"
        else:
            self._send_marks(segment.order, block.marks)
            segment.prosody_seconds += block.prosody_seconds
            segment.unwritten.append(block.samples)
            segment.made += len(block.samples)
            segment.ended = block.last
        if segment.ended:
            self._put_away(segment)
        self._write(self._streams[segment.order.stream])

    def _send_marks(self, order: SegmentOrder, marks: tuple[Mark, ...]) -> None:
        """Before the commit of their block, which may have to wait for room."""
        for first in range(0, len(marks) if order.marks else 0, MAX_MARKS):
            packed = pack_marks(marks[first : first + MAX_MARKS])
            self._send(Marks(self._generation, order.stream, order.segment, packed))

    def _write(self, stream: _Stream) -> None:
        """Commit what the ring has room for, in order. The lock is held, so a forgotten stream writes nothing."""
        while stream.segments:
            segment = stream.segments[0]
            while segment.unwritten and stream.ring.room:
                self._commit(stream, segment)
            if segment.unwritten or not segment.ended:
                return
            self._finish(segment)
            stream.segments.popleft()

    def _commit(self, stream: _Stream, segment: _Segment) -> None:
        samples = segment.unwritten[0]
        part = samples[: min(stream.ring.room, MAX_COMMIT_SAMPLES)]
        position, crc32 = stream.ring.write(part)
        killpoint("written")
        order = segment.order
        self._send(Commit(self._generation, order.stream, order.segment, segment.sealed, position, len(part), crc32))
        killpoint("committed")
        segment.sealed += len(part)
        if len(part) == len(samples):
            segment.unwritten.popleft()
        else:
            segment.unwritten[0] = samples[len(part) :]

    def _finish(self, segment: _Segment) -> None:
        order = segment.order
        killpoint("before-done")
        if segment.failure:
            self._send(Failed(self._generation, order.stream, order.segment, clipped(segment.failure)))
        else:
            done = Done(
                self._generation, order.stream, order.segment, segment.sealed, segment.seconds, segment.prosody_seconds
            )
            self._send(done)

    def _discard(self, stream: _Stream) -> None:
        for segment in stream.segments:
            segment.forgotten = True
            if segment not in self._in_lanes:
                self._put_away(segment)

    def _put_away(self, segment: _Segment) -> None:
        if segment.blocks is not None:
            segment.blocks.close()
            segment.blocks = None

    def close(self) -> None:
        """Forget everything and let the lanes end; one that is in the engine is cancelled, because the next front's
        lanes need the cores. Idempotent."""
        with self._changed:
            self._closed = True
            for stream in self._streams.values():
                self._discard(stream)
            self._streams.clear()
            for segment in self._in_lanes:
                segment.cancellation.set()
            self._studying.set()
            self._arena = None  # gives its memory back, and a descriptor
            self._changed.notify_all()
