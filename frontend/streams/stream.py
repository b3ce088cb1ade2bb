"""One request's audio: text is planned piece by piece, segments are made by a worker, blocks come out in order."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Executor
from typing import Protocol

from frontend.contract.errors import ApiError, NothingToSpeak, SpeechError, Unspeakable
from frontend.contract.request import SpeechRequest
from frontend.contract.urgency import Urgency
from frontend.contract.word_timing import WordTiming
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.joins import Joiner
from frontend.streams.link import Lease, Link
from frontend.streams.planned import PlannedSegment, SealedBlock, State
from frontend.streams.playback_clock import PlaybackClock
from frontend.text.segment import Segment
from frontend.timestamps.align import align
from shm.audio import SAMPLE_RATE, Pcm
from shm.engine_info import EngineInfo

LOOKAHEAD = 4
"""Segments planned and not dispatched: a worker never waits for text, and little is phonemised that nobody hears."""

UNHEARD = 32
"""Segments planned and not heard, whatever their state: a text that is in the cache isn't taken out of it at once."""

MIN_SPEED, MAX_SPEED = 0.25, 4.0
"""What engines take; a request's speed times what its markup asks for stays within."""


class Host(Protocol):
    """What a stream needs of the dispatcher."""

    def key(self, stream: Stream, segment: Segment) -> bytes:
        """What it is known by (`frontend.scheduling.fingerprint`)."""
        ...

    async def recall(self, stream: Stream, key: bytes) -> CachedSegment | None:
        """What it sounded like, if it was spoken before."""
        ...

    def admit(self, stream: Stream, first: Segment) -> None:
        """Its first segment that must be made is about to wait for the worker.

        Raises:
            Overloaded: there is no room for it.
        """
        ...

    def estimate(self, stream: Stream, segment: Segment) -> int: ...

    def wake(self) -> None:
        """Something can be dispatched that couldn't before."""
        ...

    def took(self, block: SealedBlock) -> None:
        """The listener has it: its room is free."""
        ...

    def ran_dry(self, stream: Stream) -> None:
        """Its listener heard a gap."""
        ...

    def forget(self, stream: Stream) -> None: ...


class Stream:
    """See `frontend.contract.speaker.SpeechStream`. Lives on the event loop; only `next` of its text runs elsewhere."""

    def __init__(
        self,
        number: int,
        request: SpeechRequest,
        engine: EngineInfo,
        segments: Iterator[Segment],
        host: Host,
        executor: Executor,
    ) -> None:
        self.number = number
        request.stages.stream = number
        self.request = request
        self.engine = engine
        self.tokens = 0
        self.planned: deque[PlannedSegment] = deque()
        """Segments whose blocks were not all taken, in order."""
        self.sounds_since: float | None = None
        """Monotonic seconds: when its first block was there."""
        self.admitted = False
        """It has a place among those for whom the worker works."""
        self.first_due = 0.0
        """Monotonic seconds at which its first sample should be there; set when it is admitted."""
        self.promised = 0.0
        """Likewise, when it will be there even if much else is to be made."""
        self.arrival = time.monotonic()
        self.tokens_planned = 0
        self.all_planned = False
        self.planned_again_at = -1
        """Index of the first segment that was planned another time, because its listener was about to run dry."""
        self._segments = segments
        self._host = host
        self._executor = executor
        self._planned_count = 0
        self._failure: SpeechError | ApiError | None = None
        self._changed = asyncio.Event()
        self._lookahead = asyncio.Event()
        self._lookahead.set()
        self._joiner = Joiner()
        self._clock = PlaybackClock()
        self._missing = False
        """Its first segment that isn't in the cache was met."""
        self._words: list[WordTiming] = []
        self._announced = -1
        """Index of the last segment whose words were told."""
        self._planning = asyncio.create_task(self._plan())

    async def _plan(self) -> None:
        """Turn text into segments, `LOOKAHEAD` ahead of what is dispatched."""
        loop = asyncio.get_running_loop()
        try:
            while not self._failure:
                await self._lookahead.wait()
                segment = await loop.run_in_executor(self._executor, next, self._segments, None)
                if segment is None:
                    break
                await self._add(segment)
        except (SpeechError, ApiError) as error:
            self.fail(error)
            return
        except Exception as error:
            self.fail(Unspeakable(f"the text could not be read: {error}"))
            raise
        self.all_planned = True
        if not self._planned_count:
            self.fail(NothingToSpeak())
        self._changed.set()

    async def _add(self, segment: Segment) -> None:
        self.request.stages.reach("planned")
        key = self._host.key(self, segment)
        known = await self._host.recall(self, key)  # meanwhile the rest may be planned again
        planned = PlannedSegment(self._planned_count, segment, self._host.estimate(self, segment), key=key)
        if known is not None:
            planned.recalled(known)
            if not self._missing:
                self.sounds_now()
        else:
            self._missing = True
            if not self.admitted:
                self._host.admit(self, segment)
            planned.kept = None if self.request.fresh else []
        self._planned_count += 1
        self.tokens_planned += segment.tokens
        self.planned.append(planned)
        self.mind_lookahead()
        self._host.wake()
        self._changed.set()

    def take_plan(self, replaced: Sequence[PlannedSegment], segments: Sequence[Segment]) -> None:
        """Have these made in place of `replaced`, which nobody has begun and nothing but such ones follows."""
        place = self.planned.index(replaced[0])
        later = list(self.planned)[place:]
        assert later[: len(replaced)] == list(replaced)
        for _ in later:
            self.planned.pop()
        self.planned_again_at = self._planned_count = replaced[0].index
        for segment in segments:
            planned = PlannedSegment(
                self._planned_count,
                segment,
                self._host.estimate(self, segment),
                key=self._host.key(self, segment),
                kept=None if self.request.fresh else [],
            )
            self.planned.append(planned)
            self._planned_count += 1
        for follower in later[len(replaced) :]:
            follower.index = self._planned_count
            self.planned.append(follower)
            self._planned_count += 1

    def mind_lookahead(self) -> None:
        """Let the planning go on or wait. To be called when a segment was dispatched or heard."""
        waiting = sum(segment.state is State.PLANNED for segment in self.planned)
        if waiting < LOOKAHEAD and len(self.planned) < UNHEARD:
            self._lookahead.set()
        else:
            self._lookahead.clear()

    def sounds_now(self) -> None:
        """A block of it is there."""
        self.sounds_since = self.sounds_since or time.monotonic()
        self.request.stages.reach("first_block")

    @property
    def sounds(self) -> bool:
        """Its first block is there."""
        return self.sounds_since is not None

    @property
    def failed(self) -> bool:
        """It ends after what was sealed."""
        return self._failure is not None

    @property
    def begun(self) -> bool:
        """Its listener has had a first sample."""
        return self._clock.since is not None

    @property
    def cached(self) -> bool:
        """See `SpeechStream.cached`."""
        return not self._missing

    async def all_cached(self) -> bool:
        """See `SpeechStream.all_cached`."""
        while not (self._missing or self._failure or self.all_planned or len(self.planned) >= UNHEARD):
            self._changed.clear()
            await self._changed.wait()
        return self.all_planned and not self._missing and not self._failure

    @property
    def samples_given(self) -> int:
        """To its listener."""
        return self._joiner.position

    @property
    def samples_ready(self) -> int:
        """Made and not given yet."""
        return sum(segment.sealed - segment.taken for segment in self.planned)

    def speed(self, segment: Segment) -> float:
        """The pace at which a segment is spoken."""
        return min(max(self.request.speed * segment.rate, MIN_SPEED), MAX_SPEED)

    def next_segment(self) -> PlannedSegment | None:
        """The first segment that no worker has; segments are dispatched in order."""
        return next((segment for segment in self.planned if segment.state is State.PLANNED), None)

    def has_work_at(self, link: Link) -> bool:
        """That generation still makes a segment of it."""
        return any(segment.state is State.DISPATCHED and segment.link is link for segment in self.planned)

    def has_work_beside(self, link: Link) -> bool:
        """Another generation still makes a segment of it."""
        return any(segment.state is State.DISPATCHED and segment.link is not link for segment in self.planned)

    def is_finishing_before(self, link: Link) -> bool:
        """A generation that the link has taken the place of still makes a segment of it."""
        return any(
            segment.link is not link and segment.link.slot == link.slot
            for segment in self.planned
            if segment.state is State.DISPATCHED and segment.link
        )

    def can_take_out(self, lease: Lease) -> bool:
        """All that is unread in that ring waits here; the listener is at none of it."""
        unread = sum(len(piece) for s in self.planned for b in s.blocks if b.lease is lease for piece in b.pieces)
        return unread == lease.sealed - lease.released

    def take_out(self, lease: Lease) -> bool:
        """Have what is unread in that ring in memory of our own, so that the ring is free; False if it can't be."""
        if not self.can_take_out(lease):
            return False
        for segment in self.planned:
            segment.take_out(lease)
        return True

    def stuck_behind(self, wanted: PlannedSegment, link: Link) -> int:
        """Later segments that that generation can't go on with before the wanted one was heard: their ring is full."""
        there = (s for s in self.planned if s.state is State.DISPATCHED and s.link is link)
        return sum(s.index > wanted.index and s.lease is not None and s.lease.full for s in there)

    def head_at(self, link: Link) -> PlannedSegment | None:
        """The first of its segments that that generation makes: the one whose blocks are written next."""
        there = (s for s in self.planned if s.state is State.DISPATCHED and s.link is link)
        return next(there, None)

    def find(self, index: int) -> PlannedSegment | None:
        return next((segment for segment in self.planned if segment.index == index), None)

    def deadline(self, wanted: PlannedSegment) -> float:
        """Monotonic seconds at which the segment's sample 0 must be there.

        That is when the listener's buffer runs dry: the first sample's time plus the audio before the segment.
        """
        before = self._joiner.position
        for segment in self.planned:
            if segment is wanted:
                break
            before += segment.length - segment.taken
        return self.starts + before / SAMPLE_RATE

    @property
    def starts(self) -> float:
        """Monotonic seconds at which its listener hears, or should hear, the first sample."""
        if self.request.urgency is not Urgency.LISTENING:
            return self.first_due
        return self._clock.starts(self._joiner.position, self.sounds_since or self.first_due)

    @property
    def dry_at(self) -> float:
        """Monotonic seconds at which its listener has heard all that was made."""
        return self.starts + (self.samples_given + self.samples_ready) / SAMPLE_RATE

    def progress(self) -> None:
        """A block was sealed, or a segment ended."""
        self._changed.set()

    def fail(self, error: SpeechError | ApiError) -> None:
        """End the stream after what was sealed. The first failure counts."""
        self._failure = self._failure or error
        self._lookahead.set()
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        while True:
            self._changed.clear()
            head = self.planned[0] if self.planned else None
            if head and head.blocks:
                block = head.blocks.popleft()
                for piece in block.pieces:
                    head.taken += len(piece)
                    joined = self._joiner.push(piece)
                    self._tell_words(head)
                    for samples in joined:
                        self._clock.give()
                        yield samples
                        self._clock.ask(self._joiner.position)
                self._host.took(block)
            elif head and head.state is State.DONE:
                self._tell_words(head, ended=True)
                self._joiner.end(head.segment.cut, self.speed(head.segment), head.segment.pause)
                self.planned.popleft()
                self.tokens += head.segment.tokens
                self.mind_lookahead()
            elif self._failure:
                raise self._failure
            elif self.all_planned and not self.planned:
                for samples in self._joiner.finish():
                    self._clock.give()
                    yield samples
                    self._clock.ask(self._joiner.position)
                return
            else:
                await self._changed.wait()
                if self.planned and self.planned[0].blocks and self._clock.heard_gap(self._joiner.position):
                    self._host.ran_dry(self)

    def _tell_words(self, head: PlannedSegment, ended: bool = False) -> None:
        """Once a segment's place in the stream is known, its words have times; if it is silent, at its end."""
        if not self.request.timestamps or head.index == self._announced:
            return
        own, stream = self._joiner.placed or (0, self._joiner.position)
        if self._joiner.placed or ended:
            self._announced = head.index
            marks = head.marks or [(0, 0)]  # of a segment without a sound
            self._words += align(head.segment.words, marks, lambda sample: stream + max(sample - own, 0))

    def take_words(self) -> list[WordTiming]:
        """See `SpeechStream.take_words`."""
        words, self._words = self._words, []
        return words

    def close(self) -> None:
        """See `SpeechStream.close`."""
        self._planning.cancel()
        self._host.forget(self)
        self.planned.clear()  # blocks keep whole arenas of dead generations
