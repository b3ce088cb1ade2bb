"""Streams, the worker generations that make their segments, and what each tells the other."""

from __future__ import annotations

import asyncio
import itertools
import logging
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

from frontend.admission import Admission
from frontend.estimate import Estimate
from frontend.link import Link
from frontend.metrics import Metrics
from frontend.planned import PlannedSegment, SealedBlock, State
from frontend.quarantine import Quarantine, fingerprint
from frontend.settings import FrontSettings
from frontend.speaker import Broken, SpeechRequest, Unavailable, Unspeakable
from frontend.status import Snapshot
from frontend.stream import Stream
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation, Segment
from frontend.watchdog import Watchdog
from shm.killpoint import killpoint
from shm.messages import (
    Began,
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
    Quit,
    Situation,
    clipped,
)
from shm.ring import TornBlock

log = logging.getLogger(__name__)

MAX_DEATHS = 2
"""Worker deaths that a segment may see before its stream fails."""

FATAL = "fatal"
"""`Situation.worker_state` of a worker that is not started again."""


class Dispatcher:
    """See `frontend.speaker.Speaker`. `tell` sends a control message to the supervisor."""

    def __init__(
        self,
        pipeline: TextPipeline,
        metrics: Metrics,
        tell: Callable[[ControlMessage], None],
        settings: FrontSettings,
    ) -> None:
        self._pipeline = pipeline
        self._metrics = metrics
        self._tell = tell
        self._settings = settings
        self._links: dict[int, Link] = {}
        self._watchdogs: dict[int, Watchdog] = {}
        self._current: Link | None = None
        self._streams: dict[int, Stream] = {}
        self._admission = Admission(self._streams, self._link_for)
        self._quarantine = Quarantine(settings.quarantine_seconds)
        self._numbers = itertools.count(1)
        self._estimates: dict[str, Estimate] = {}
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
        if len(self._streams) >= self._settings.max_streams:
            raise Unavailable(f"{len(self._streams)} streams are being spoken already", self.retry_after)
        segments = self._pipeline.segments(request.text, request.language, Notation.of(engine))
        stream = Stream(next(self._numbers), request, engine, segments, self, self._executor)
        self._streams[stream.number] = stream
        return stream

    def estimate(self, stream: Stream, segment: Segment) -> int:
        """Samples that the segment is expected to have."""
        return self._estimate_for(stream.engine).samples(segment.tokens, stream.request.speed)

    def _estimate_for(self, engine: EngineInfo) -> Estimate:
        return self._estimates.setdefault(f"{engine.name} {engine.model}", Estimate())

    # -- what the supervisor says

    def connect(self, connect: Connect, fds: list[int]) -> None:
        """A generation is ready: it gets everything that is dispatched from now on."""
        link = Link(connect, fds, self._record, self._lost)
        self._links[link.generation] = link
        self._watchdogs[link.generation] = Watchdog(link, self._settings.hang_patience, self._heads)
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
        self._metrics.provider_failures(situation.provider_failures)
        if situation.worker_state == FATAL and self._current is None:
            for stream in list(self._streams.values()):
                stream.fail(Unavailable(situation.reason, self.retry_after))

    # -- what the workers say

    def _record(self, link: Link, message: CommitMessage) -> None:
        if message.generation != link.generation:
            link.lose(f"a record of generation {message.generation} from generation {link.generation}")
            return
        self._watchdogs[link.generation].sign_of_life()
        if isinstance(message, Quit):
            link.lose("it ends on its own account", to_blame=False)
            return
        stream = self._streams.get(message.job)
        planned = stream.find(message.segment) if stream else None
        if stream is None or planned is None or planned.link is not link or planned.state is not State.DISPATCHED:
            return  # sent before the worker read that the job is forgotten
        match message:
            case Began():
                planned.touched = asyncio.get_running_loop().time()
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
        killpoint("before-seal")
        planned.seal(SealedBlock(pieces, link, lease, commit.position + commit.samples), commit.samples)
        killpoint("sealed")
        stream.progress()
        if not stream.sounds:
            stream.sounds = True
            self.wake()

    def _done(self, link: Link, stream: Stream, planned: PlannedSegment, done: Done) -> None:
        if done.samples != planned.sealed:
            link.lose(f"a segment of {done.samples} samples, of which {planned.sealed} were committed")
            return
        if not planned.deaths:  # else a part of it was made elsewhere
            tokens, speed = planned.segment.tokens, stream.request.speed
            self._estimate_for(stream.engine).observe(tokens, speed, done.samples, done.seconds)
        self._ended(link, stream, planned, State.DONE)

    def _ended(self, link: Link, stream: Stream, planned: PlannedSegment, state: State) -> None:
        planned.ended(state)
        link.in_worker -= 1
        stream.progress()
        if (head := stream.head_at(link)) and head.touched is not None:
            head.touched = asyncio.get_running_loop().time()  # made ahead, it may have waited for its turn
        if link.draining and self._link_for(stream) is not link and not stream.has_work_at(link):
            link.forget(stream.number)
            self._retire_if_idle(link)
        self.wake()

    def _lost(self, link: Link, reason: str, to_blame: bool) -> None:
        log.warning("lost worker generation %d: %s", link.generation, reason)
        del self._links[link.generation]
        self._watchdogs.pop(link.generation).stop()
        if self._current is link:
            self._current = None
        self._tell(Distrust(link.generation, clipped(reason)))
        for stream in list(self._streams.values()):
            for planned in stream.planned:
                if planned.state is State.DISPATCHED and planned.link is link:
                    # Only what a lane was at can have killed it.
                    planned.orphaned(to_blame and planned.touched is not None)
                    self._metrics.segment_resubmitted()
                    if planned.deaths >= MAX_DEATHS:
                        self._quarantine.add(self._fingerprint(stream, planned))
        self.wake()

    def _heads(self, link: Link) -> Iterator[tuple[PlannedSegment, float]]:
        for stream in self._streams.values():
            if head := stream.head_at(link):
                yield head, self._estimate_for(stream.engine).seconds(head.segment.tokens, stream.request.speed)

    def _fingerprint(self, stream: Stream, planned: PlannedSegment) -> bytes:
        engine, request = stream.engine, stream.request
        return fingerprint(f"{engine.name} {engine.model_sha256}", planned.segment.script, request.voice, request.speed)

    # -- what goes to the workers

    def wake(self) -> None:
        """See `frontend.stream.Host.wake`: dispatch what can be, nearest deadline first."""
        for deadline, stream, segment in self._admission.waiting():
            if len(self._quarantine) and self._fingerprint(stream, segment) in self._quarantine:
                stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))
            elif (link := self._link_for(stream)) and self._admission.may_go(link, stream, segment):
                self._dispatch(link, stream, segment, deadline)

    def _link_for(self, stream: Stream) -> Link | None:
        """The newest generation that speaks as the stream began; its samples must not change their voice midway."""
        if self._current and _sound_alike(self._current.engine, stream.engine):
            return self._current
        alike = next((link for link in self._links.values() if _sound_alike(link.engine, stream.engine)), None)
        if alike is None and self._current:
            reason = f"{stream.engine.name} has given way to {self._current.engine.name}"
            stream.fail(Broken(reason) if stream.begun else Unavailable(reason, self.retry_after))
        return alike

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
        killpoint("dispatched")
        self._watchdogs[link.generation].sign_of_life()
        stream.mind_lookahead()

    def took(self, block: SealedBlock) -> None:
        """See `Host.took`."""
        block.give_back()
        killpoint("released")
        if watchdog := self._watchdogs.get(block.link.generation):
            watchdog.sign_of_life()  # it may have had no room to say anything until now
        self.wake()

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
            del self._links[link.generation]
            self._watchdogs.pop(link.generation).stop()
            if self._current is link:
                self._current = None
            link.close()
            self._tell(Idle(link.generation))

    @property
    def queue_depth(self) -> int:
        """Segments that are planned and not dispatched."""
        return sum(s.state is State.PLANNED for stream in self._streams.values() for s in stream.planned)

    def snapshot(self) -> Snapshot:
        """What `/status` shows of it."""
        streams = tuple(self._streams.values())
        return Snapshot(self.engine, self.reason, self._situation, streams, self.queue_depth, len(self._quarantine))

    def close(self) -> None:
        """End every stream and link."""
        for stream in list(self._streams.values()):
            stream.close()
        for link in self._links.values():
            self._watchdogs[link.generation].stop()
            link.close()
        self._executor.shutdown(wait=False, cancel_futures=True)


def _sound_alike(one: EngineInfo, other: EngineInfo) -> bool:
    """The same model with the same voices, whatever runs it."""
    return (one.name, one.model, one.model_sha256, one.voices) == (
        other.name,
        other.model,
        other.model_sha256,
        other.voices,
    )
