"""The workbench: makes the segments that the front (frontend process) has ordered, always the block with the nearest
deadline.

The front decides which segments are ordered, and their deadlines; the workbench only chooses the next block. No
inference thread ever waits for a listener: samples that don't fit into their stream's ring stay with their segment
until a `Release` makes room, and the thread continues with another segment. A stream's blocks are written in order; a
later segment may be made ahead by one block, in private memory.

`Workbench.run_inference` is the worker's main loop.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from shm.killpoint import killpoint
from shm.messages import Began, CommitMessage, Forget, OrderMessage, Release, SegmentOrder
from shm.ring import Arena, RingWriter
from worker.engine import Block, Cancelled, Engine, EngineError, ProviderUnavailable
from worker.segment_work import SegmentWork
from worker.stream_output import StreamOutput

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
        stream.segments.append(SegmentWork(order))

    def run_inference(self) -> None:
        """Make blocks until the workbench is closed. One thread runs this for each segment that the engine makes at
        once."""
        while segment := self._next():
            started = time.monotonic()
            block, failure = self._advance(segment)
            killpoint("block-made")
            seconds = time.monotonic() - started
            with self._changed:
                segment.seconds += seconds
                self._take_in(segment, block, failure)
                self._changed.notify_all()

    def _next(self) -> SegmentWork | None:
        """Wait for the segment whose next block is due first, and start it; None once the workbench is closed."""
        with self._changed:
            while not self._closed:
                if segment := min(self._workable(), key=lambda s: s.deadline, default=None):
                    self._in_inference.add(segment)
                    self._send(Began(self._generation, segment.order.stream, segment.order.segment))
                    return segment
                self._changed.wait()
        return None

    def _workable(self) -> Iterator[SegmentWork]:
        """Segments whose next block may be made now."""
        for stream in self._streams.values():
            for segment in stream.segments:
                if segment.waits and segment not in self._in_inference:
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
        if segment.forgotten:
            segment.put_away()
            return
        stream = self._streams[segment.order.stream]
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
                segment.cancellation.set()
            else:
                segment.put_away()

    def close(self) -> None:
        """Forget all orders and let the threads end. Runs in the engine are cancelled, because the next front's threads
        need the cores. Idempotent."""
        with self._changed:
            self._closed = True
            for stream in self._streams.values():
                self._discard(stream)
            self._streams.clear()
            self._arena = None  # gives its memory back, and a descriptor
            self._changed.notify_all()
