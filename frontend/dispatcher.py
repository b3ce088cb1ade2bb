"""Which segment goes to which worker generation, and when: the front's side of scheduling."""

from __future__ import annotations

import itertools
import logging
import zlib
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor

from frontend.estimate import LengthEstimate
from frontend.link import Link
from frontend.metrics import Metrics
from frontend.planned import PlannedSegment, SealedBlock, State
from frontend.speaker import Broken, SpeechRequest, Unavailable, Unspeakable
from frontend.stream import Stream
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation, Segment
from shm.messages import (
    Commit,
    CommitMessage,
    Connect,
    ControlMessage,
    Disconnect,
    Distrust,
    Done,
    EngineInfo,
    Failed,
    Idle,
    Job,
    Situation,
)
from shm.ring import TornBlock

log = logging.getLogger(__name__)

PER_STREAM = 2
"""A stream's segments in the worker at a time: one in the making, one to go on with."""

SPARE = 1
"""Segments in the worker beyond those that it makes side by side, so that it never waits for the front."""

MAX_DEATHS = 2
"""Worker deaths that a segment may see before its stream fails."""

FATAL = "fatal"
"""`Situation.worker_state` of a worker that is not started again."""


class Dispatcher:
    """See `frontend.speaker.Speaker`. `tell` sends a control message to the supervisor."""

    def __init__(
        self, pipeline: TextPipeline, metrics: Metrics, tell: Callable[[ControlMessage], None], max_streams: int
    ) -> None:
        self._pipeline = pipeline
        self._metrics = metrics
        self._tell = tell
        self._max_streams = max_streams
        self._links: dict[int, Link] = {}
        self._current: Link | None = None
        self._streams: dict[int, Stream] = {}
        self._numbers = itertools.count(1)
        self._lengths: dict[str, LengthEstimate] = {}
        self._engine: EngineInfo | None = None
        self._situation = Situation("starting", "the worker is starting", {})
        self._executor: Executor = ThreadPoolExecutor(1, thread_name_prefix="text")

    @property
    def engine(self) -> EngineInfo | None:
        """Who speaks, or spoke a moment ago and is being restarted: requests that come meanwhile wait for it."""
        return None if self._situation.worker_state == FATAL else self._engine

    @property
    def reason(self) -> str:
        """See `Speaker.reason`."""
        return "" if self._current else self._situation.reason

    @property
    def retry_after(self) -> float:
        """See `Speaker.retry_after`."""
        return 30.0 if self._situation.worker_state == FATAL else 1.0

    def open(self, request: SpeechRequest) -> Stream:
        """See `Speaker.open`."""
        engine = self.engine
        if engine is None:
            raise Unavailable(self.reason, self.retry_after)
        if len(self._streams) >= self._max_streams:
            raise Unavailable(f"{len(self._streams)} streams are being spoken already", self.retry_after)
        segments = self._pipeline.segments(request.text, request.language, Notation.of(engine))
        stream = Stream(next(self._numbers), request, engine, segments, self, self._executor)
        self._streams[stream.number] = stream
        return stream

    def estimate(self, stream: Stream, segment: Segment) -> int:
        """Samples that the segment is expected to have."""
        return self._length(stream.engine).samples(segment.tokens, stream.request.speed)

    def _length(self, engine: EngineInfo) -> LengthEstimate:
        return self._lengths.setdefault(engine.name, LengthEstimate())

    # -- what the supervisor says

    def connect(self, connect: Connect, fds: list[int]) -> None:
        """A generation is ready: it gets everything that is dispatched from now on."""
        link = Link(connect, fds, self._record, self._lost)
        self._links[link.generation] = link
        self._current = link
        self._engine = link.engine
        self.wake()

    def disconnect(self, message: Disconnect) -> None:
        """A generation gets nothing new (`draining`), or is dead."""
        link = self._links.get(message.generation)
        if link is None:
            return
        if message.draining:
            link.draining = True
            self._retire_if_idle(link)
        else:
            link.lose("the supervisor reports its end")

    def situation(self, situation: Situation) -> None:
        """Why nothing speaks, if nothing does."""
        self._situation = situation
        self._metrics.restarts(situation.restarts)
        if situation.worker_state == FATAL and self._current is None:
            for stream in list(self._streams.values()):
                stream.fail(Unavailable(situation.reason, self.retry_after))

    # -- what the workers say

    def _record(self, link: Link, message: CommitMessage) -> None:
        if message.generation != link.generation:
            link.lose(f"a record of generation {message.generation} from generation {link.generation}")
            return
        stream = self._streams.get(message.job)
        planned = stream.find(message.segment) if stream else None
        if stream is None or planned is None or planned.link is not link or planned.state is not State.DISPATCHED:
            return  # sent before the worker read that the job is forgotten
        match message:
            case Commit():
                self._sealed(link, stream, planned, message)
            case Done():
                self._done(link, stream, planned, message)
            case Failed():
                self._ended(link, stream, planned, State.FAILED)
                stream.fail(Unspeakable(message.reason))

    def _sealed(self, link: Link, stream: Stream, planned: PlannedSegment, commit: Commit) -> None:
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
        planned.seal(SealedBlock(pieces, link, lease, commit.position + commit.samples), commit.samples)
        stream.progress()
        if not stream.sounds:
            stream.sounds = True
            self.wake()

    def _done(self, link: Link, stream: Stream, planned: PlannedSegment, done: Done) -> None:
        if done.samples != planned.sealed:
            link.lose(f"a segment of {done.samples} samples, of which {planned.sealed} were committed")
            return
        self._length(stream.engine).observe(planned.segment.tokens, stream.request.speed, done.samples)
        self._ended(link, stream, planned, State.DONE)

    def _ended(self, link: Link, stream: Stream, planned: PlannedSegment, state: State) -> None:
        planned.ended(state)
        link.in_worker -= 1
        stream.progress()
        if link.draining and self._link_for(stream) is not link and not stream.has_work_at(link):
            link.forget(stream.number)
            self._retire_if_idle(link)
        self.wake()

    def _lost(self, link: Link, reason: str) -> None:
        log.warning("lost worker generation %d: %s", link.generation, reason)
        del self._links[link.generation]
        if self._current is link:
            self._current = None
        self._tell(Distrust(link.generation, reason))
        for stream in list(self._streams.values()):
            for planned in stream.planned:
                if planned.state is State.DISPATCHED and planned.link is link:
                    planned.orphaned()
                    self._metrics.segment_resubmitted()
                    if planned.deaths >= MAX_DEATHS:
                        stream.fail(Broken("the engine dies on a part of this text"))
        self.wake()

    # -- what goes to the workers

    def wake(self) -> None:
        """See `frontend.stream.Host.wake`: dispatch what can be, nearest deadline first."""
        waiting = [(stream.deadline(segment), stream, segment) for stream, segment in self._waiting()]
        for deadline, stream, segment in sorted(waiting, key=lambda w: w[0]):
            if (link := self._link_for(stream)) and self._may_go(link, stream, segment):
                self._dispatch(link, stream, segment, deadline)

    def _waiting(self) -> list[tuple[Stream, PlannedSegment]]:
        """Per stream, the segments that may go next: as many as make up `PER_STREAM` in the worker.

        Until its first sample is there, a stream has one segment in the making: a second one would take memory
        bandwidth from it (first audio after 26 ms took 6 ms longer so, on two cores).
        """
        found = []
        for stream in self._streams.values():
            there = sum(segment.state is State.DISPATCHED for segment in stream.planned)
            due = [segment for segment in stream.planned if segment.state is State.PLANNED]
            found += [(stream, segment) for segment in due[: max((PER_STREAM if stream.sounds else 1) - there, 0)]]
        return found

    def _link_for(self, stream: Stream) -> Link | None:
        """The newest generation that speaks as the stream began; its samples must not change their voice midway."""
        if self._current and self._current.engine == stream.engine:
            return self._current
        alike = next((link for link in self._links.values() if link.engine == stream.engine), None)
        if alike is None and self._current:
            reason = f"{stream.engine.name} has given way to {self._current.engine.name}"
            stream.fail(Broken(reason) if stream.begun else Unavailable(reason, self.retry_after))
        return alike

    def _may_go(self, link: Link, stream: Stream, segment: PlannedSegment) -> bool:
        if segment is not stream.next_segment() or not self._has_room(link, stream, segment):
            return False
        if stream.has_work_beside(link):
            # Should that generation die, its segment would need this ring, behind a later one that waits for it.
            return False
        if self._suspect_at(link):
            # Which segment kills workers is found by giving them the suspects one at a time, alone.
            return segment.suspect and link.in_worker == 0
        # A newcomer goes at once: by its deadline the worker takes it up next.
        return not stream.begun or link.in_worker < link.engine.concurrency + SPARE

    def _has_room(self, link: Link, stream: Stream, segment: PlannedSegment) -> bool:
        lease = link.lease(stream.number)
        return lease is not None and (segment.estimate - segment.sealed <= lease.room or lease.empty)

    def _suspect_at(self, link: Link) -> bool:
        """A suspect is in that worker, or could go there."""
        for stream in self._streams.values():
            if any(segment.suspect and segment.link is link for segment in stream.planned):
                return True
            due = stream.next_segment()
            if due and due.suspect and self._link_for(stream) is link and self._has_room(link, stream, due):
                return True
        return False

    def _dispatch(self, link: Link, stream: Stream, planned: PlannedSegment, deadline: float) -> None:
        lease = link.lease(stream.number)
        if lease is None:
            return
        request = stream.request
        planned.dispatched(link, lease)
        link.dispatch(
            Job(
                generation=link.generation,
                job=stream.number,
                segment=planned.index,
                ring=lease.ring,
                script=planned.segment.script,
                language=request.language,
                voice=request.voice,
                speed=request.speed,
                seed=zlib.crc32(planned.segment.script.encode()),
                from_sample=planned.sealed,
                first_deadline=deadline,
            )
        )
        stream.mind_lookahead()

    def forget(self, stream: Stream) -> None:
        """See `Host.forget`."""
        if self._streams.pop(stream.number, None) is None:
            return
        for link in list(self._links.values()):
            link.in_worker -= sum(p.link is link and p.state is State.DISPATCHED for p in stream.planned)
            link.forget(stream.number)
            self._retire_if_idle(link)
        self.wake()

    def _retire_if_idle(self, link: Link) -> None:
        if link.draining and not link.leases:
            self._links.pop(link.generation, None)
            link.close()
            self._tell(Idle(link.generation))

    @property
    def queue_depth(self) -> int:
        """Segments that are planned and not dispatched."""
        return sum(s.state is State.PLANNED for stream in self._streams.values() for s in stream.planned)

    def close(self) -> None:
        """End every stream and link."""
        for stream in list(self._streams.values()):
            stream.close()
        for link in self._links.values():
            link.close()
        self._executor.shutdown(wait=False, cancel_futures=True)
