"""Worker generations from the scheduler's side: connecting, draining and ending."""

from __future__ import annotations

import asyncio
import logging

from frontend.contract.errors import Broken, Unspeakable
from frontend.monitoring.metrics import Event
from frontend.scheduling.dispatcher import Dispatcher
from frontend.scheduling.shared import Shared
from frontend.scheduling.watch import Watch
from frontend.streams.links import Link, Loss
from frontend.streams.segments import SealedBlock, SegmentState, StreamSegment
from frontend.streams.stream import Stream
from shm.killpoint import killpoint
from shm.messages import (
    Began,
    Commit,
    CommitMessage,
    Connect,
    Disconnect,
    Distrust,
    Done,
    Failed,
    Idle,
    Marks,
    Quit,
    clipped,
)
from shm.ring import TornBlock
from shm.timing import unpack_marks

log = logging.getLogger(__name__)

MAX_DEATHS = 3
"""Workers lost at a segment after which its stream fails. The second and third worker make the segment alone: two kills
from outside may hit the same segment by chance (`python -m benchmarks.chaos`); a third hit is far rarer."""


class Generations:
    """One link for each generation, from `connect` until it is lost or has nothing left to do."""

    def __init__(self, shared: Shared, watch: Watch, dispatcher: Dispatcher) -> None:
        self._shared = shared
        self._watch = watch
        self._dispatcher = dispatcher

    def connect(self, connect: Connect, fds: list[int]) -> None:
        """Take in a ready generation: it gets all new segments of its slot, in place of the slot's earlier generation.

        Raises:
            OSError: the channel can't be taken.
        """
        link = Link(connect, fds, self._record, self._lost)
        self._shared.links.add(link)
        self._watch.begin(link)
        self._dispatcher.wake()

    def disconnect(self, message: Disconnect) -> None:
        """Stop sending segments to a generation that drains (`draining`) or is dead."""
        link = self._shared.links.find(message.generation)
        if link is None:
            return
        if message.draining:
            link.draining = True
            for stream in self._shared.streams.values():
                self._leave_if_draining(link, stream)
            self._retire_if_idle(link)
        else:
            link.lose("the supervisor reports its end")

    def forget(self, stream: Stream) -> None:
        """Drop a closed stream at every generation."""
        for link in self._shared.links.all:
            link.in_worker -= sum(1 for _ in stream.segments.at(link))
            link.rings.forget(stream.number)
            self._retire_if_idle(link)

    def close_links(self) -> None:
        for link in self._shared.links.all:
            self._watch.end(link)
            link.close()

    def _record(self, link: Link, message: CommitMessage) -> None:
        """Handle one record. A worker that breaks the protocol loses its link, and its later records are ignored."""
        self._watch.sign_of_life(link)
        if message.generation != link.generation:
            link.lose(f"a record of generation {message.generation} from generation {link.generation}")
            return
        if isinstance(message, Quit):
            link.lose("it ends on its own account", Loss.INNOCENT)
            return
        number = link.rings.stream_of(message.stream)
        stream = None if number is None else self._shared.streams.get(number)
        planned = stream.segments.find(message.segment) if stream else None
        if stream is None or planned is None or not planned.is_at(link):
            return  # sent before the worker read that the stream is forgotten
        match message:
            case Began():
                planned.touched = asyncio.get_running_loop().time()
                planned.side_by_side.append(self._running(link))
            case Marks():
                self._marked(link, stream, planned, message)
            case Commit():
                self._sealed(link, stream, planned, message)
            case Done():
                self._done(link, stream, planned, message)
            case Failed():
                planned.ended(SegmentState.FAILED)
                self._ended(link, stream)
                stream.fail(Unspeakable(message.reason))

    def _marked(self, link: Link, stream: Stream, planned: StreamSegment, marks: Marks) -> None:
        try:
            told = unpack_marks(marks.packed)
        except ValueError as error:
            link.lose(str(error))
            return
        if planned.marks_of is not link:
            # A generation that resumes the segment sends the marks from its first sample on, or all of them.
            begin = told[0][0] if told else 0
            planned.marks, planned.marks_of = [mark for mark in planned.marks if mark[0] < begin], link
        planned.marks += told
        stream.sounds.marked(planned)

    def _sealed(self, link: Link, stream: Stream, planned: StreamSegment, commit: Commit) -> None:
        lease = planned.lease
        assert lease is not None
        if commit.offset != planned.sealed or commit.position != lease.sealed:
            link.lose(f"sample {commit.offset} of a segment where {planned.sealed} was due")
            return
        try:
            pieces = lease.reader.sealed(commit.position, commit.samples, commit.crc32)
        except TornBlock as torn:
            link.lose(str(torn))
            return
        killpoint("before-seal")
        awaited = planned.suspect or not stream.timing.sounds
        stream.sounds.sealed(planned, pieces)
        planned.seal(SealedBlock(pieces, link, lease, commit.position + commit.samples), commit.samples)
        stream.request.progress.moved(0)
        stream.request.stages.block(planned.index, commit.samples, commit.times)
        killpoint("sealed")
        stream.progress()
        stream.timing.first_block()
        if awaited:
            self._dispatcher.wake()

    def _done(self, link: Link, stream: Stream, planned: StreamSegment, done: Done) -> None:
        if done.samples != planned.sealed:
            link.lose(f"a segment of {done.samples} samples, of which {planned.sealed} were committed")
            return
        # A score says nothing of the time that sound takes. If another worker made a part of the segment, the seconds
        # cover only the rest.
        if not (planned.resumed or stream.request.score_only):
            load = planned.load(self._running(link))
            tokens, speed = planned.segment.tokens, planned.speed
            if planned.segment.part is None:  # else its prosody is that of more tokens
                self._shared.ledger.of(link.engine).observe(
                    tokens, speed, done.samples, done.seconds, done.prosody_seconds, load
                )
            stream.request.stages.made(done.seconds, done.samples / link.engine.sample_rate)
            self._shared.metrics.segment_made(
                link.engine, stream.number, done.seconds, done.samples, load, done.prosody_seconds
            )
        stream.sounds.done(planned)
        planned.ended(SegmentState.DONE)
        self._ended(link, stream)

    def _running(self, link: Link) -> int:
        """The number of segments on which the worker's inference threads are working."""
        return sum(p.link is link and p.touched is not None for s in self._shared.streams.values() for p in s.segments)

    def _ended(self, link: Link, stream: Stream) -> None:
        link.in_worker -= 1
        stream.progress()
        if (head := next(stream.segments.at(link), None)) and head.touched is not None:
            head.touched = asyncio.get_running_loop().time()  # made ahead, the segment may have waited for its turn
        self._leave_if_draining(link, stream)
        self._retire_if_idle(link)
        self._dispatcher.wake()

    def _leave_if_draining(self, link: Link, stream: Stream) -> None:
        """Make a draining worker stop writing for a stream that has moved to another one. The stream keeps its ring
        there until it ends, because its listener may not have heard all samples in the ring."""
        has_work = any(True for _ in stream.segments.at(link))
        if link.draining and self._dispatcher.link_for(stream) is not link and not has_work:
            link.rings.leave(stream.number)

    def _retire_if_idle(self, link: Link) -> None:
        """Close a draining link at which no stream has a ring, and let the supervisor stop its worker."""
        if link.draining and not link.rings.leases:
            self._shared.links.drop(link)
            self._watch.end(link)
            link.close()
            self._shared.tell(Idle(link.generation))

    def _lost(self, link: Link, reason: str, loss: Loss) -> None:
        log.warning("lost worker generation %d: %s", link.generation, reason)
        self._shared.links.drop(link)
        self._watch.end(link)
        self._shared.tell(Distrust(link.generation, clipped(reason)))
        for stream in list(self._shared.streams.values()):
            for planned in list(stream.segments.at(link)):
                planned.orphaned(loss)
                self._shared.metrics.count(Event.RESUBMITTED)
                if planned.deaths >= MAX_DEATHS:
                    self._judge(stream, planned)
        self._dispatcher.wake()

    def _judge(self, stream: Stream, planned: StreamSegment) -> None:
        """Fail a stream whose segment ends each worker that makes it alone."""
        if planned.hangs:
            stream.fail(Broken("the engine hangs at a part of this text"))
        else:
            self._shared.quarantine.add(planned.key)
            stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))
