"""The workbench: makes the segments that the front (frontend process) has ordered, always the block with the nearest
deadline.

The front decides which segments are ordered, and their deadlines; the workbench only chooses the next block. No
inference thread ever waits for a listener: samples that don't fit into their stream's ring stay with their segment
until a `Release` makes room, and the thread continues with another segment. A stream's blocks are written in order;
later segments are made ahead in private memory. A stream's first block has the engine for itself, as far as no listener
runs dry meanwhile: other runs are paused (`FirstBlocks`), and continue when their blocks are the next ones due.

`Workbench.run_inference` is the worker's main loop.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, chain, filterfalse

from shm.killpoint import killpoint
from shm.messages import FIRST_BLOCK_GRACE, Began, CommitMessage, Forget, OrderMessage, Release, SegmentOrder
from shm.ring import Arena, RingWriter
from worker.engine import Block, Cancelled, Engine, EngineError, ProviderUnavailable
from worker.loop.segments import HEARD_SOONER, SegmentWork, StreamOutput

log = logging.getLogger(__name__)


class Workbench:
    """Orders of one channel's front. The workbench is closed with the channel; the engine outlives it.

    `send` puts a record on the commits channel; it is called under the lock, after the samples are in the ring.
    `broken` is called when the engine's execution provider has failed: no segment is to blame, and no other can be
    made.
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
        self._streams: dict[int, StreamOutput] = {}
        """Output of each stream, by the number under which the front knows it."""
        self._in_inference: set[SegmentWork] = set()
        """Segments that a thread is working on, including those the front no longer wants."""
        self._first_blocks = FirstBlocks(engine.concurrency)
        self._changed = threading.Condition()
        self._closed = False
        self._vocodes_in_windows = engine.info.first_block > 0

    def handle(self, message: OrderMessage) -> None:
        """Handle a message from the front. The call never waits for an engine."""
        with self._changed:
            match message:
                case SegmentOrder():
                    self._admit(message)
                case Release(number, position):
                    if stream := self._streams.get(number):
                        stream.ring.release(position)
                        stream.write()
                case Forget(number):
                    if forgotten := self._streams.pop(number, None):
                        self._discard(forgotten)
            self._changed.notify_all()

    def _admit(self, order: SegmentOrder) -> None:
        if order.generation != self._generation:
            log.error("dropped an order for generation %d", order.generation)
            return
        if self._arena is None:
            return
        stream = self._streams.get(order.stream)
        if stream is None:
            stream = StreamOutput(RingWriter(self._arena.ring(order.ring)), self._send)
            self._streams[order.stream] = stream
        stream.segments.append(SegmentWork(order, self._engine.info.sample_rate))

    @property
    def threads(self) -> int:
        """Number of threads that should call `run_inference`: one for each segment that the engine makes at once, and
        as many for the blocks that are due while those segments' runs are paused."""
        return self._engine.concurrency * (1 + self._vocodes_in_windows)

    def run_inference(self) -> None:
        """Make blocks until the workbench is closed."""
        while segment := self._next():
            started, paused_before = segment.begun, segment.control.paused_seconds
            block, failure = self._advance(segment)
            killpoint("block-made")
            seconds = time.monotonic() - started - (segment.control.paused_seconds - paused_before)
            with self._changed:
                segment.record_time(seconds, block)
                self._take_in(segment, block, failure)
                self._changed.notify_all()

    def _next(self) -> SegmentWork | None:
        """Wait for the segment whose next block is due first, and start it; None once the workbench is closed."""
        with self._changed:
            while not self._closed:
                if segment := self._take_up():
                    return segment
                self._changed.wait(self._first_blocks.seconds_to_wait(self._patient()))
        return None

    def _take_up(self) -> SegmentWork | None:
        """Start the segment whose next block is due first, for the calling thread; None if there is none. Paused runs
        that are due sooner continue in their own threads."""
        while (segment := self._choose()) in self._in_inference:
            segment.control.resume()
        if segment is None:
            return None
        if self._is_urgent(segment):
            patient = self._patient()
            pausable = {other: patient[other] for other in self._in_inference if other in patient}
            self._first_blocks.begin(segment, pausable)
        self._in_inference.add(segment)
        segment.begun = time.monotonic()
        self._send(Began(self._generation, segment.order.stream, segment.order.segment))
        return segment

    def _choose(self) -> SegmentWork | None:
        """The segment whose next block is due first, paused ones included, except those that make way for a first
        block; None if there is none. If the engine makes as many segments as it can, only a first block for which
        another can be paused.

        A paused run waits for its turn like any other block: if it were resumed as soon as the first block is made, the
        newcomer's second block, which is due 0.3 s later, would wait until a window of each paused run is made.
        """
        running = [segment for segment in self._in_inference if not segment.control.is_paused]
        candidates: Iterator[SegmentWork]
        if len(running) < self._engine.concurrency:
            patient = self._patient() if self._first_blocks else {}
            paused = self._in_inference.difference(running)
            candidates = filterfalse(patient.__contains__, chain(paused, self._workable()))
        else:
            can_wait = any(map(self._patient().__contains__, running))
            candidates = filter(self._is_urgent, self._workable() if can_wait else ())
        return min(candidates, key=self._latest, default=None)

    def _latest(self, segment: SegmentWork) -> float:
        """The segment's deadline, later if it is for a first block: a longer silence before it is better than a gap in
        what another listener hears."""
        return segment.deadline + (FIRST_BLOCK_GRACE if self._is_urgent(segment) else 0.0)

    def _patient(self) -> dict[SegmentWork, float]:
        """Segments that can wait for a first block, each with its latest start; no first block is among them."""
        others = filterfalse(self._is_urgent, self._workable())
        return self._first_blocks.patient([*self._in_inference, *others])

    def _is_urgent(self, segment: SegmentWork) -> bool:
        """True if somebody waits in silence for the segment's next block."""
        sounds = self._streams[segment.order.stream].sounds
        return self._vocodes_in_windows and not sounds and segment.deadline - time.monotonic() < URGENT

    def _workable(self) -> Iterator[SegmentWork]:
        """Segments whose next block may be made now."""
        for stream in self._streams.values():
            for segment in stream.workable():
                if segment not in self._in_inference:
                    yield segment
                if self._vocodes_in_windows and (not stream.sounds or segment.is_due):
                    break  # prosody of later segments would take cores from this block

    def _advance(self, segment: SegmentWork) -> tuple[Block | None, str]:
        """The segment's next block, None at its end, or the reason why there is none. The lock must not be held."""
        order = segment.order
        killpoint("before-block")
        try:
            return segment.advance(self._engine), ""
        except Cancelled:
            return None, "the engine gave up a segment that nobody had cancelled"  # dropped for an unwanted one
        except EngineError as error:
            return None, str(error)
        except ProviderUnavailable as error:
            self._broken(error)
            return None, str(error)
        except Exception as error:
            ids = order.stream, order.segment, len(order.script)
            log.exception("the engine failed on stream=%d segment=%d, of %d tokens", *ids)
            return None, f"the engine failed: {type(error).__name__}: {error}"

    def _take_in(self, segment: SegmentWork, block: Block | None, failure: str) -> None:
        """Record a thread's result for its segment."""
        self._in_inference.remove(segment)
        segment.control.resume()
        self._first_blocks.end(segment, made=block is not None)
        if segment.forgotten:
            segment.put_away()
        else:
            stream = self._streams[segment.order.stream]
            if block is not None and self._is_urgent(segment):
                segment.begin_playback()
            stream.sounds = True
            segment.take_in(block, failure)
            if block is not None and not segment.failure:
                stream.send_marks(segment.order, block.marks)
            stream.write()

    def _discard(self, stream: StreamOutput) -> None:
        """Forget a stream's segments. Their runs end at once, also where no segment needs the thread: the text of the
        next listener may be being read, a run alongside takes cores from that, and an engine with windows gives each of
        several runs one core instead of all. A cancelled run ends within one of the graph's nodes.
        """
        for segment in stream.segments:
            segment.forgotten = True
            if segment in self._in_inference:
                segment.control.cancel()
            else:
                segment.put_away()

    def forget_all(self) -> None:
        """Forget all orders and let the threads end. Runs in the engine are cancelled, because the next front's threads
        need the cores. Idempotent."""
        with self._changed:
            self._closed = True
            for stream in self._streams.values():
                self._discard(stream)
            self._streams.clear()
            self._arena = None  # gives its memory back, and a descriptor
            self._changed.notify_all()


URGENT = 1.0
"""Seconds until its deadline below which a stream's first block is urgent."""

ASSUMED_SECONDS = 0.3
"""Assumed time of a first block before one was made."""


class FirstBlocks:
    """Urgent first blocks in inference. The workbench's lock must be held."""

    def __init__(self, concurrency: int) -> None:
        """`concurrency`: number of blocks that the engine makes at once."""
        self._concurrency = concurrency
        self._in_inference: set[SegmentWork] = set()
        self._seconds = ASSUMED_SECONDS
        """Time of the latest first block, prosody included."""

    def __bool__(self) -> bool:
        return bool(self._in_inference)

    def begin(self, segment: SegmentWork, pausable: Mapping[SegmentWork, float]) -> None:
        """Record that a thread begins an urgent first block, and pause the given runs, each until its latest start."""
        for other, latest_start in pausable.items():
            other.control.pause(latest_start)
        self._in_inference.add(segment)

    def end(self, segment: SegmentWork, made: bool) -> None:
        """Record that the engine has returned from a segment, whether its block was a first one or not; `made`: it
        returned a block, whose time the next first block is expected to take."""
        if segment in self._in_inference:
            self._in_inference.remove(segment)
            if made:
                self._seconds = segment.seconds

    def patient(self, segments: Iterable[SegmentWork]) -> dict[SegmentWork, float]:
        """Those of the segments whose listeners don't run dry while a first block is made before their next ones, each
        with its latest start (monotonic seconds)."""
        others = [segment for segment in segments if segment not in self._in_inference]
        starts, end = latest_starts(others, self._concurrency), time.monotonic() + self._seconds
        return {segment: start for segment, start in starts.items() if start > end}

    def seconds_to_wait(self, patient: Mapping[SegmentWork, float]) -> float | None:
        """Seconds until one of the patient segments, by their latest starts, can no longer wait for a first block; None
        if none waits."""
        if not self._in_inference or not patient:
            return None
        return min(max(0.0, min(patient.values()) - self._seconds - time.monotonic()), threading.TIMEOUT_MAX)


def latest_starts(segments: Iterable[SegmentWork], concurrency: int) -> dict[SegmentWork, float]:
    """Monotonic seconds by which each segment's next block must be begun, so that all are ready in time although only
    `concurrency` are made at once, the nearest deadline first.

    Several listeners who came together have as much to hear: if each block waited as long as it alone could, the last
    one made would be late.
    """
    ordered = sorted(segments, key=lambda segment: segment.deadline)
    work = accumulate(segment.block_seconds for segment in ordered)
    starts = {}
    for segment, seconds in zip(ordered, work, strict=True):
        starts[segment] = segment.deadline - HEARD_SOONER - max(segment.block_seconds, seconds / concurrency)
    earliest = math.inf
    for segment in reversed(ordered):
        earliest = starts[segment] = min(earliest, starts[segment])
    return starts
