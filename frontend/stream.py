"""One request's audio: text is planned piece by piece, segments are made by a worker, blocks come out in order."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor
from typing import Protocol

from frontend.link import Link
from frontend.planned import PlannedSegment, SealedBlock, State
from frontend.speaker import SpeechError, SpeechRequest, Unspeakable
from frontend.text.segment import Segment
from shm.audio import SAMPLE_RATE, Pcm
from shm.messages import EngineInfo

LOOKAHEAD = 4
"""Segments planned and not dispatched: a worker never waits for text, and little is phonemised that nobody hears."""

FIRST_AUDIO_TARGET = 0.3
"""Seconds from a request's arrival to its first sample: a newcomer's deadline."""


class Host(Protocol):
    """What a stream needs of the dispatcher."""

    def estimate(self, stream: Stream, segment: Segment) -> int: ...

    def wake(self) -> None:
        """Something can be dispatched that couldn't before."""
        ...

    def took(self, block: SealedBlock) -> None:
        """The listener has it: its room is free."""
        ...

    def forget(self, stream: Stream) -> None: ...


class Stream:
    """See `frontend.speaker.SpeechStream`. Lives on the event loop; only `next` of its text runs elsewhere."""

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
        self.request = request
        self.engine = engine
        self.tokens = 0
        self.samples_taken = 0
        """By its listener."""
        self.planned: deque[PlannedSegment] = deque()
        """Segments whose blocks were not all taken, in order."""
        self.sounds = False
        """Its first block was sealed."""
        self._segments = segments
        self._host = host
        self._executor = executor
        self._planned_count = 0
        self._all_planned = False
        self._failure: SpeechError | None = None
        self._changed = asyncio.Event()
        self._lookahead = asyncio.Event()
        self._lookahead.set()
        self._arrival = time.monotonic()
        self._first_taken: float | None = None
        self._samples_done = 0
        """Of segments that are no longer in `planned`."""
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
                planned = PlannedSegment(self._planned_count, segment, self._host.estimate(self, segment))
                self._planned_count += 1
                self.planned.append(planned)
                self.mind_lookahead()
                self._host.wake()
        except Exception as error:
            self.fail(Unspeakable(f"the text could not be read: {error}"))
            raise
        self._all_planned = True
        if not self._planned_count:
            self.fail(Unspeakable("there is nothing in the text that can be spoken"))
        self._changed.set()

    def mind_lookahead(self) -> None:
        """Let the planning go on or wait. To be called when a segment was dispatched."""
        waiting = sum(segment.state is State.PLANNED for segment in self.planned)
        if waiting < LOOKAHEAD:
            self._lookahead.set()
        else:
            self._lookahead.clear()

    @property
    def begun(self) -> bool:
        """Its listener has had a first sample."""
        return self._first_taken is not None

    def next_segment(self) -> PlannedSegment | None:
        """The first segment that no worker has; segments are dispatched in order."""
        return next((segment for segment in self.planned if segment.state is State.PLANNED), None)

    def has_work_at(self, link: Link) -> bool:
        """That generation still makes a segment of it."""
        return any(segment.state is State.DISPATCHED and segment.link is link for segment in self.planned)

    def has_work_beside(self, link: Link) -> bool:
        """Another generation still makes a segment of it."""
        return any(segment.state is State.DISPATCHED and segment.link is not link for segment in self.planned)

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
        before = self._samples_done
        for segment in self.planned:
            if segment is wanted:
                break
            before += segment.sealed if segment.state is State.DONE else max(segment.estimate, segment.sealed)
        start = self._arrival + FIRST_AUDIO_TARGET if self._first_taken is None else self._first_taken
        return start + before / SAMPLE_RATE

    def progress(self) -> None:
        """A block was sealed, or a segment ended."""
        self._changed.set()

    def fail(self, error: SpeechError) -> None:
        """End the stream after what was sealed. The first failure counts."""
        self._failure = self._failure or error
        self._lookahead.set()
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        while True:
            self._changed.clear()
            if self.planned and self.planned[0].blocks:
                block = self.planned[0].blocks.popleft()
                for piece in block.pieces:
                    self._first_taken = self._first_taken or time.monotonic()
                    yield piece
                    self.samples_taken += len(piece)
                self._host.took(block)
            elif self.planned and self.planned[0].state is State.DONE:
                done = self.planned.popleft()
                self._samples_done += done.sealed
                self.tokens += done.segment.tokens
            elif self._failure:
                raise self._failure
            elif self._all_planned and not self.planned:
                return
            else:
                await self._changed.wait()

    def close(self) -> None:
        """See `SpeechStream.close`."""
        self._planning.cancel()
        self._host.forget(self)
        self.planned.clear()  # blocks keep whole arenas of dead generations
