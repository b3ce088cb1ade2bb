"""Streams, the worker generations that make their segments, and what each tells the other."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Protocol

from frontend.contract.errors import Broken, Overloaded, Unavailable
from frontend.contract.request import SpeechRequest
from frontend.contract.urgency import Urgency
from frontend.monitoring.metrics import Event, Metrics
from frontend.monitoring.status.snapshot import Snapshot
from frontend.planning.ledger import Account, Ledger
from frontend.planning.planner import Limits
from frontend.planning.profile import Profile
from frontend.planning.stored import stored_profiles
from frontend.scheduling.admission import Admission
from frontend.scheduling.fingerprint import fingerprint
from frontend.scheduling.placement import Placement
from frontend.scheduling.quarantine import Quarantine
from frontend.scheduling.records import Records
from frontend.scheduling.replanning import plan_again
from frontend.scheduling.turns import Turns
from frontend.scheduling.watchdog import Watchdog
from frontend.settings.front import FrontSettings
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.cache.segments import SegmentCache
from frontend.streams.link import Lease, Link
from frontend.streams.links import Links, sound_alike
from frontend.streams.planned import PlannedSegment, SealedBlock, State
from frontend.streams.stream import Stream
from frontend.text.segment import Segment
from shm.engine_info import EngineInfo
from shm.killpoint import killpoint
from shm.messages import (
    CommitMessage,
    Connect,
    ControlMessage,
    Disconnect,
    Distrust,
    Idle,
    SegmentOrder,
    Situation,
    clipped,
)

log = logging.getLogger(__name__)

MAX_DEATHS = 2
"""Worker deaths that a segment may see before its stream fails."""

FATAL = "fatal"
"""`Situation.worker_state` of a worker that is not started again."""


class Reader(Protocol):
    """What is needed of `frontend.planning.reader.Reader`."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: Profile) -> Iterator[Segment]: ...


class Dispatcher:
    """See `frontend.contract.speaker.Speaker`. `tell` sends a control message to the supervisor."""

    def __init__(
        self,
        reader: Reader,
        metrics: Metrics,
        tell: Callable[[ControlMessage], None],
        settings: FrontSettings,
        cache: SegmentCache,
    ) -> None:
        self._reader = reader
        self._metrics = metrics
        self._tell = tell
        self._settings = settings
        self._links = Links()
        self._watchdogs: dict[int, Watchdog] = {}
        self._streams: dict[int, Stream] = {}
        self._turns = Turns(self._streams, self._link_for)
        self._ledger = Ledger(settings.adapt_plans, stored_profiles(settings.cost_profiles))
        self._placement = Placement(self._streams, self._ledger)
        self._admission = Admission(
            self._streams, self._ledger, lambda engine: [link.engine for link in self._links.that_sound_like(engine)]
        )
        self._cache = cache
        self._records = Records(self._streams, self._ledger, cache, metrics, self._ended, self.wake)
        self._limits = Limits(min_first_tokens=settings.min_first_tokens)
        metrics.watch("cache_bytes", lambda: cache.bytes)
        self._idle = asyncio.Event()
        self._quarantine = Quarantine(settings.quarantine_seconds)
        self._numbers = itertools.count(1)
        self._situation = Situation("starting", "the worker is starting", {})
        self._executor: Executor = ThreadPoolExecutor(1, thread_name_prefix="text")

    @property
    def engine(self) -> EngineInfo | None:
        """Who speaks, or spoke a moment ago and is being restarted: requests that come meanwhile wait for it."""
        return None if self._situation.worker_state == FATAL else self._links.voice

    @property
    def reason(self) -> str:
        """See `Speaker.reason`."""
        return "" if self._links.current else self._situation.reason

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
            raise Overloaded(f"{len(self._streams)} requests are being spoken already.", self._soonest_end())
        if request.urgency is not Urgency.IDLE:
            for other in self._streams.values():
                if other.request.urgency is Urgency.IDLE:
                    other.fail(Unavailable("listeners come first"))
        segments = self._reader.segments(request, engine, self._ledger.of(engine).profile)
        stream = Stream(next(self._numbers), request, engine, segments, self, self._executor)
        self._streams[stream.number] = stream
        self._mind_idleness()
        return stream

    async def idle(self) -> None:
        """Wait until something can speak and nothing is being spoken."""
        await self._idle.wait()

    def _mind_idleness(self) -> None:
        if self._links.current and self.engine and not self._streams:
            self._idle.set()
        else:
            self._idle.clear()

    def _soonest_end(self) -> float:
        """Seconds until a stream will have been made."""
        return max(1.0, min(self._admission.seconds_left(stream) for stream in self._streams.values()))

    def key(self, stream: Stream, segment: Segment) -> bytes:
        """See `frontend.streams.stream.Host.key`."""
        request, speed = stream.request, stream.speed(segment)
        return fingerprint(stream.engine, segment.script, request.language, request.voice, speed)

    async def recall(self, stream: Stream, key: bytes) -> CachedSegment | None:
        """See `frontend.streams.stream.Host.recall`."""
        if stream.request.fresh:
            return None
        found = await self._cache.find(key, marks=stream.request.timestamps)
        self._metrics.cache_asked(found is not None)
        return found

    def admit(self, stream: Stream, first: Segment) -> None:
        """See `frontend.streams.stream.Host.admit`."""
        self._admission.admit(stream, first)

    def estimate(self, stream: Stream, segment: Segment) -> int:
        """Samples that the segment is expected to have."""
        return self._account(stream).costs.samples(segment.tokens, stream.speed(segment))

    def _account(self, stream: Stream) -> Account:
        return self._ledger.of(stream.engine)

    # -- what the supervisor says

    def connect(self, connect: Connect, fds: list[int]) -> None:
        """A generation is ready: it gets what is dispatched from now on, in place of the one before it in its slot."""
        link = Link(connect, fds, self._record, self._lost)
        self._links.add(link)
        self._watchdogs[link.generation] = Watchdog(link, self._settings.hang_patience, self._heads)
        self.wake()

    def disconnect(self, message: Disconnect) -> None:
        """A generation gets nothing new (`draining`), or is dead."""
        link = self._links.find(message.generation)
        if link is None:
            return
        if message.draining:
            link.draining = True
            for stream in self._streams.values():
                self._leave_if_draining(link, stream)
            self._retire_if_idle(link)
        else:
            link.lose("the supervisor reports its end")

    def situation(self, situation: Situation) -> None:
        """Why nothing speaks, if nothing does."""
        self._situation = situation
        if lost := [p.slot or 0 for p in situation.processes if p.role == "worker" and p.state == FATAL]:
            self._links.give_up(lost)
            self.wake()
        if situation.worker_state == FATAL and not self._links.current:
            for stream in list(self._streams.values()):
                stream.fail(Unavailable(situation.reason, self.retry_after))

    # -- what the workers say

    def _record(self, link: Link, message: CommitMessage) -> None:
        self._watchdogs[link.generation].sign_of_life()
        self._records.take(link, message)

    def _ended(self, link: Link, stream: Stream) -> None:
        link.in_worker -= 1
        stream.progress()
        if (head := stream.head_at(link)) and head.touched is not None:
            head.touched = asyncio.get_running_loop().time()  # made ahead, it may have waited for its turn
        self._leave_if_draining(link, stream)
        self._retire_if_idle(link)
        self.wake()

    def _leave_if_draining(self, link: Link, stream: Stream) -> None:
        if link.draining and self._link_for(stream) is not link and not stream.has_work_at(link):
            link.leave(stream.number)  # its ring isn't another's: not all of it may have been heard

    def _lost(self, link: Link, reason: str, to_blame: bool) -> None:
        log.warning("lost worker generation %d: %s", link.generation, reason)
        self._links.drop(link)
        self._watchdogs.pop(link.generation).stop()
        self._tell(Distrust(link.generation, clipped(reason)))
        for stream in list(self._streams.values()):
            for planned in stream.planned:
                if planned.state is State.DISPATCHED and planned.link is link:
                    # Only what a lane was at can have killed it.
                    planned.orphaned(to_blame and planned.touched is not None)
                    self._metrics.count(Event.RESUBMITTED)
                    if planned.deaths >= MAX_DEATHS:
                        self._quarantine.add(planned.key)
        self.wake()

    def _heads(self, link: Link) -> Iterator[tuple[PlannedSegment, float]]:
        for stream in self._streams.values():
            if head := stream.head_at(link):
                segment, costs = head.segment, self._ledger.of(link.engine).costs
                yield head, costs.seconds(segment.tokens, stream.speed(segment), link.engine.concurrency)

    # -- what goes to the workers

    def wake(self) -> None:
        """See `frontend.streams.stream.Host.wake`: dispatch what can be, nearest deadline first."""
        self._mind_idleness()
        self._placement.look()
        if self._settings.adapt_plans:
            self._plan_again()
        waiting = self._turns.waiting()
        for _, stream, segment in waiting:
            if segment.key in self._quarantine:
                stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))
        self._placement.trial = None
        self._placement.trial = trial = self._turns.trial()
        for deadline, stream, segment in waiting:
            link = None if stream.failed else self._link_for(stream)
            if link and self._turns.may_go(link, stream, segment, trial):
                self._dispatch(link, stream, segment, deadline)

    def _plan_again(self) -> None:
        for stream in self._streams.values():
            alike = self._links.that_sound_like(stream.engine) if stream.sounds and stream.next_segment() else ()
            if not alike:
                continue
            engine = self._placement.choose(alike, stream).engine
            account = self._ledger.of(engine)
            if change := plan_again(stream, time.monotonic(), account, engine.concurrency, self._limits):
                stream.take_plan(*change)
                self._metrics.count(Event.REPLANNED)

    def _link_for(self, stream: Stream) -> Link | None:
        """Where its next segment would go; None while nothing speaks as the stream began."""
        if alike := self._links.that_sound_like(stream.engine):
            return self._placement.choose(alike, stream)
        voice = self._links.voice
        if self._links.current and voice and not sound_alike(voice, stream.engine):
            reason = f"{stream.engine.name} has given way to {voice.name}"
            stream.fail(Broken(reason) if stream.begun else Unavailable(reason, self.retry_after))
        return None

    def _dispatch(self, link: Link, stream: Stream, planned: PlannedSegment, deadline: float) -> None:
        lease = link.lease(stream.number)
        if lease and lease.last > planned.index:
            lease = self._make_way(link, stream)
        if lease is None:
            return
        request = stream.request
        planned.dispatched(link, lease)
        self._placement.look()
        request.stages.reach("dispatched")
        link.dispatch(
            SegmentOrder(
                generation=link.generation,
                stream=lease.number,
                segment=planned.index,
                ring=lease.ring,
                script=planned.segment.script,
                language=request.language,
                voice=request.voice,
                speed=stream.speed(planned.segment),
                seed=zlib.crc32(planned.segment.script.encode()),
                from_sample=planned.sealed,
                first_deadline=deadline,
                marks=request.timestamps,
            )
        )
        killpoint("dispatched")
        self._watchdogs[link.generation].sign_of_life()
        stream.mind_lookahead()

    def _make_way(self, link: Link, stream: Stream) -> Lease | None:
        """A ring for an earlier segment than the worker has of the stream already: those begin again behind it."""
        unread = link.has_free_ring or not stream.take_out(link.leases[stream.number])
        lease = link.renew(stream.number, next(self._numbers), unread)
        for later in stream.planned if lease else ():
            if later.state is State.DISPATCHED and later.link is link:
                later.orphaned(to_blame=False)
                link.in_worker -= 1
                self._metrics.count(Event.RESUBMITTED)
        return lease

    def took(self, block: SealedBlock) -> None:
        """See `Host.took`."""
        if block.link is None:
            return
        block.give_back()
        killpoint("released")
        if watchdog := self._watchdogs.get(block.link.generation):
            watchdog.sign_of_life()  # it may have had no room to say anything until now
        self.wake()

    def ran_dry(self, stream: Stream) -> None:
        """See `Host.ran_dry`."""
        if stream.request.urgency is Urgency.LISTENING:
            self._metrics.count(Event.UNDERRUN)

    def forget(self, stream: Stream) -> None:
        """See `Host.forget`."""
        if self._streams.pop(stream.number, None) is None:
            return
        for link in self._links.all:
            link.in_worker -= sum(p.link is link and p.state is State.DISPATCHED for p in stream.planned)
            link.forget(stream.number)
            self._retire_if_idle(link)
        self.wake()

    def _retire_if_idle(self, link: Link) -> None:
        if link.draining and not link.leases:
            self._links.drop(link)
            self._watchdogs.pop(link.generation).stop()
            link.close()
            self._tell(Idle(link.generation))

    @property
    def queue_depth(self) -> int:
        """Segments that are planned and not dispatched."""
        return sum(s.state is State.PLANNED for stream in self._streams.values() for s in stream.planned)

    def snapshot(self) -> Snapshot:
        """What `/status` shows of it."""
        streams = tuple(self._streams.values())
        return Snapshot(
            self.engine,
            self.reason,
            self._situation,
            streams,
            self.queue_depth,
            len(self._quarantine),
            self._ledger.by_engine(),
            self._cache,
        )

    def close(self) -> None:
        """End every stream and link."""
        for stream in list(self._streams.values()):
            stream.close()
        for link in self._links.all:
            self._watchdogs[link.generation].stop()
            link.close()
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._cache.close()
