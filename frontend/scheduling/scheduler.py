"""The scheduler: opens streams and follows the supervisor. It builds its parts; its loop is `Dispatcher.wake`."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from functools import partial

from frontend.contract.errors import Broken, Fault, NothingToSpeak, Overloaded, SpeechError, Unavailable
from frontend.contract.growing_text import TextMark
from frontend.contract.request import SpeechRequest, Urgency
from frontend.contract.speaker import engine_in_use
from frontend.monitoring.metrics import Event, Metrics
from frontend.monitoring.status_handler import Snapshot
from frontend.planning.costs import Ledger
from frontend.planning.profile import CostProfile
from frontend.planning.reader import Reader
from frontend.planning.strain import Strain
from frontend.scheduling.admission import Admission
from frontend.scheduling.dispatcher import Dispatcher, stream_segment
from frontend.scheduling.generations import Generations
from frontend.scheduling.shared import Quarantine, Shared
from frontend.scheduling.standing import EngineStanding
from frontend.scheduling.watch import Watch
from frontend.settings.front import FrontSettings
from frontend.streams.cache import CachedSegment, SegmentCache
from frontend.streams.own_sounds import OwnSounds
from frontend.streams.segments import SealedBlock, StreamSegment
from frontend.streams.stream import Stream
from frontend.streams.text_ahead import TextAhead
from shm.engine_info import EngineInfo, VoiceInfo
from shm.killpoint import killpoint
from shm.messages import Connect, ControlMessage, Disconnect
from shm.situation import Situation
from text.errors import Mishap, TextError
from text.words.segment import Segment

log = logging.getLogger(__name__)

ENOUGH = 1.0
"""Seconds of audio ahead of a growing text's listener, with which its reader still waits for a sentence to join to a
short one."""


_LONG_TEXTS = 3
"""Long texts that are read at once; the helper process that reads them does one step at a time."""


class Scheduler:
    """Opens streams, fills each one's queue of segments in a task of its own, and follows the supervisor."""

    def __init__(
        self,
        reader: Reader,
        metrics: Metrics,
        tell: Callable[[ControlMessage], None],
        settings: FrontSettings,
        cache: SegmentCache,
        expected_voices: Sequence[VoiceInfo] = (),
    ) -> None:
        """
        Args:
            tell: sends a control message to the supervisor.
            expected_voices: of the engines that may speak.
        """
        self._expected_voices = expected_voices
        self._reader = reader
        self._numbers = itertools.count(1)
        self._executor: Executor = ThreadPoolExecutor(1, thread_name_prefix="text")
        self._patient: Executor = ThreadPoolExecutor(_LONG_TEXTS, thread_name_prefix="long-text")
        ledger = Ledger(settings.adapt_plans, strain=Strain())
        self._shared = Shared(settings, ledger, Quarantine(settings.quarantine_seconds), cache, metrics, tell)
        self._standing = EngineStanding(self._shared)
        self._watch = Watch(self._shared, self._standing.pid_of)
        self._dispatcher = Dispatcher(self._shared, self._standing, self._watch, partial(next, self._numbers))
        self._generations = Generations(self._shared, self._watch, self._dispatcher)
        self._admission = Admission(self._shared)
        metrics.watch("cache_bytes", lambda: cache.bytes)

    @property
    def engine(self) -> EngineInfo | None:
        return self._standing.engine

    @property
    def expected_voices(self) -> Sequence[VoiceInfo]:
        return self._expected_voices

    @property
    def reason(self) -> str:
        return self._standing.reason

    @property
    def retry_after(self) -> float:
        return self._standing.retry_after

    @property
    def real_time_factor(self) -> float:
        return self._shared.ledger.of(engine).real_time_factor() if (engine := self.engine) else 0.0

    @property
    def ring_seconds(self) -> float:
        return self._shared.links.ring_seconds

    def open(self, request: SpeechRequest) -> Stream:
        engine = engine_in_use(self)
        self._admission.make_room(request)
        profile = self._profile(engine, request)
        segments = self._reader.segments(request, engine, profile)
        text = TextAhead(segments, self._executor, request, self._patient)
        stream = Stream(
            next(self._numbers),
            request,
            engine,
            text,
            OwnSounds(self._shared.cache, request.progress.name, cached=not request.fresh),
            fill=self._fill,
            took=self._took,
            gap=self._heard_gap,
            closed=self._forget,
            real_time_factor=self._real_time_factor,
        )
        self._shared.streams[stream.number] = stream
        self._standing.look()
        return stream

    def _profile(self, engine: EngineInfo, request: SpeechRequest) -> CostProfile:
        """The profile for the request's plan; that of its first plan, if a front was killed after that."""
        progress = request.progress
        if progress.profile:
            return CostProfile(*progress.profile)
        profile = self._shared.ledger.profile_for(engine, request)
        progress.plan_by([*profile.as_dict().values()])
        return profile

    async def _fill(self, stream: Stream) -> None:
        """Read the stream's text to its end; the stream fails if the text can't be read or gets no place."""
        try:
            while not stream.failed and (item := await stream.text.next()):
                await self._take(stream, item)
        except (SpeechError, TextError) as error:
            stream.fail(error)
            return
        except Exception as error:
            name = stream.request.request_id
            Mishap.of(error).log(log, f"{name} failed: the text can't be read")
            self._shared.metrics.count(Event.UNREAD)
            stream.fail(Fault(name))
            return
        stream.text.ended = True
        if not stream.segments.numbered:
            stream.fail(NothingToSpeak())
        stream.progress()

    async def _take(self, stream: Stream, item: Segment | TextMark) -> None:
        match item:
            case Segment():
                if stream.request.growing and not stream.segments:
                    stream.playback.heard_gap()  # the listener waited for the writer, not for a worker
                await self._add(stream, item)
            case TextMark.FLUSH if stream.segments:
                stream.segments[-1].flushes += 1
            case TextMark.FLUSH:
                stream.flushed += 1
                stream.progress()
            case TextMark.HOLDING:
                await stream.text.more(max(0.0, stream.seconds_left - ENOUGH))
            case TextMark.WAITING:
                await stream.text.more(None)

    async def _add(self, stream: Stream, segment: Segment) -> None:
        stream.request.stages.reach("planned")
        planned = stream_segment(stream, segment, self._shared.ledger)
        if not stream.request.progress.agrees(stream.segments.numbered, planned.key):
            raise Broken("the text is read otherwise than before the server's front was killed")
        known = await self._recall(stream, planned)  # meanwhile earlier segments may be planned again
        if known is not None:
            planned.recalled(known)
            if stream.cached:
                stream.timing.first_block()
        if known is None or not known.whole:
            stream.cached = False
            if not stream.timing.admitted:
                self._admission.admit(stream, planned)
        stream.text.tokens += segment.tokens
        stream.segments.add(planned)
        stream.note_plan(planned.index)
        stream.text.mind(stream.segments)
        self._dispatcher.wake()
        stream.progress()

    async def _recall(self, stream: Stream, planned: StreamSegment) -> CachedSegment | None:
        """The segment's samples from the cache, or those that a killed front has left; None if the segment is to be
        made."""
        marks = stream.request.timestamps
        if stream.request.progress.again and (
            left := stream.sounds.left(stream.segments.numbered, planned.key, marks=marks)
        ):
            return left
        if stream.request.fresh:
            return None
        found = await self._shared.cache.find(planned.key, marks=marks)
        self._shared.metrics.cache_asked(found is not None)
        return found

    def _took(self, block: SealedBlock) -> None:
        """Give the block's room in its ring back to its worker."""
        if block.link is None:
            return
        block.give_back()
        killpoint("released")
        self._watch.sign_of_life(block.link)  # the link may have had no room for an order until now
        self._dispatcher.wake()

    def _heard_gap(self, stream: Stream) -> None:
        """Count a gap, if somebody listens."""
        if stream.request.urgency is Urgency.LISTENING:
            self._shared.metrics.count(Event.UNDERRUN)

    def _real_time_factor(self, stream: Stream) -> float | None:
        """Predicted seconds of work per second of the stream's audio; None before the engine was measured. The engine's
        inference threads share the streams that are open."""
        costs = self._shared.ledger.of(stream.engine)
        if not costs.measured:
            return None
        threads = max(stream.engine.concurrency, 1)
        return costs.real_time_factor(threads) / threads * max(len(self._shared.streams), 1)

    def _forget(self, stream: Stream) -> None:
        if self._shared.streams.pop(stream.number, None) is not None:
            self._generations.forget(stream)
            self._dispatcher.wake()

    def prepare(self, work: Callable[[], object]) -> None:
        """Run `work` in the threads that read texts, before they read another text."""
        self._executor.submit(work)
        self._patient.submit(work)

    async def prewarm(self, phrases: Iterable[str], ask: Callable[[EngineInfo, str], SpeechRequest]) -> None:
        """Speak each phrase once, whenever no other stream is open, so that later requests find it in the cache. `ask`
        makes a phrase's request as for a client that names nothing."""
        for phrase in phrases:
            while not await self._spoken_ahead(phrase, ask):
                pass

    async def _spoken_ahead(self, phrase: str, ask: Callable[[EngineInfo, str], SpeechRequest]) -> bool:
        """True if the phrase is finished: spoken, or rejected for good. One that lost its engine is tried again."""
        await self.idle()
        engine = self.engine
        if engine is None:
            return False
        try:
            with closing(self.open(ask(engine, phrase))) as stream:
                async for _ in stream:
                    pass
        except (Unavailable, Overloaded):
            return False
        except SpeechError as error:
            log.warning("a phrase can't be spoken ahead: %s", error)
        return True

    async def speaks(self) -> None:
        """Wait until an engine can speak."""
        await self._standing.speaks.wait()

    async def idle(self) -> None:
        """Wait until an engine can speak and no stream is open."""
        await self._standing.idle.wait()

    def connect(self, connect: Connect, fds: list[int]) -> None:
        self._generations.connect(connect, fds)

    def disconnect(self, message: Disconnect) -> None:
        self._generations.disconnect(message)

    def situation(self, situation: Situation) -> None:
        """Take in the supervisor's report on the workers; streams fail if no worker will be started again soon."""
        self._standing.follow(situation)
        if lost := self._standing.lost_slots:
            self._shared.links.give_up(lost)
            self._dispatcher.wake()
        if self._standing.is_fatal and not self._shared.links.current:
            for stream in list(self._shared.streams.values()):
                stream.fail(Unavailable(self.reason, self.retry_after))

    @property
    def demand(self) -> float | None:
        """Work that is due divided by work that is possible (`Admission.load`)."""
        return self._admission.load()

    @property
    def queue_depth(self) -> int:
        """Segments that are planned and not dispatched."""
        return sum(1 for stream in self._shared.streams.values() for _ in stream.segments.waiting())

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.engine,
            self.reason,
            self._standing.situation,
            tuple(self._shared.streams.values()),
            self.queue_depth,
            len(self._shared.quarantine),
            self._shared.ledger.by_label,
            self._shared.cache,
            predicted_sounds(self._shared),
            self._shared.ledger.strain,
        )

    def shut_down(self) -> None:
        for stream in list(self._shared.streams.values()):
            stream.close()
        self._generations.close_links()
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._patient.shutdown(wait=False, cancel_futures=True)
        self._shared.cache.store_rest()


def predicted_sounds(shared: Shared) -> dict[int, float]:
    """Predicted seconds until the first sound of each stream that is admitted and silent, by the stream's number.

    Workers make newcomers' first blocks in the order of their deadlines, one on each inference thread. Streams whose
    engine wasn't measured are left out.
    """
    found: dict[int, float] = {}
    ahead = 0.0
    threads = max(sum(link.engine.concurrency for link in shared.links.current), 1)
    for stream, first in _newcomers(shared):
        costs = shared.ledger.of(stream.engine)
        if costs.measured:
            own = costs.first_audio(first.segment.tokens, first.speed, stream.engine.concurrency)
            found[stream.number] = ahead / threads + own
            ahead += own
    return found


def _newcomers(shared: Shared) -> list[tuple[Stream, StreamSegment]]:
    silent = [
        (stream, stream.segments[0])
        for stream in shared.streams.values()
        if stream.timing.admitted and not stream.timing.sounds and stream.segments
    ]
    return sorted(silent, key=lambda entry: entry[0].timing.deadline(entry[1]))
