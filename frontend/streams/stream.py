"""One request's audio: workers make its segments, and their blocks are given out in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from dataclasses import replace

import numpy as np

from frontend.contract.errors import Interrupted, SpeechError
from frontend.contract.request import SpeechRequest, Urgency
from frontend.streams.joins import Joiner, pause_after
from frontend.streams.own_sounds import OwnSounds
from frontend.streams.segments import SealedBlock, SegmentQueue, SegmentState, StreamSegment
from frontend.streams.text_ahead import UNHEARD, TextAhead
from frontend.timestamps import align, visemes_of
from shm.audio import SAMPLE_RATE, Pcm
from shm.engine_info import EngineInfo
from shm.score import Score, unpack
from shm.timing import SentenceTiming, WordTiming
from text.errors import TextError
from text.words.segment import Cut, Segment, SentenceStart


class Playback(Joiner):
    """One listener's joined samples, and the listener's clock.

    The clock starts with the first sample, and stops while no samples are left to hear or the listener takes none.
    """

    def __init__(self, sample_rate: int = SAMPLE_RATE) -> None:
        super().__init__(sample_rate)
        self.since: float | None = None
        """Monotonic seconds at which the first sample was heard, moved by each stop of the clock; None before the first
        sample."""
        self._had = 0
        """Samples that the listener was given by a front that was killed: they are made again, and not heard again."""
        self.held_back = False
        """True while a piece is given and the listener hasn't asked for the next one."""

    @property
    def begun(self) -> bool:
        return self.since is not None

    def resume(self, samples: int, since: float) -> None:
        """Continue the clock of a front that was killed. `samples`: those that its listener was given."""
        self._had, self.since = samples, since or None

    def give(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """Yield the pieces and run the clock, which stops while the listener doesn't ask for the next piece."""
        for samples in pieces:
            if self.position < self._had:
                yield samples
                continue
            self.since = self.since or time.monotonic()
            self.held_back = True
            yield samples
            self.held_back = False
            self.since = max(self.since, self._start_without_gap())

    def starts(self, expected: float) -> float:
        """Monotonic seconds at which the first sample is heard; `expected` before one was given."""
        since = self.since or expected
        # A listener who doesn't take the available samples still has enough to hear.
        return max(since, self._start_without_gap()) if self.held_back else since

    def heard_gap(self) -> bool:
        """True if the listener had heard all earlier samples before the next ones arrive now.

        The clock stopped during such a gap, and is moved by its length.
        """
        if self.since is None or self.position < self._had or (now := self._start_without_gap()) <= self.since:
            return False
        self.since = now
        return True

    def _start_without_gap(self) -> float:
        """The start time of a listener who has just heard all samples so far without a gap."""
        return time.monotonic() - self.position / self.sample_rate


YIELD = 3.0
"""Seconds of audio that each listener has before a stream that nobody hears gets a turn."""


class Timing:
    """A stream's deadlines. All times are seconds on the monotonic clock."""

    def __init__(self, request: SpeechRequest, segments: SegmentQueue, playback: Playback) -> None:
        self._request = request
        self._segments = segments
        self._playback = playback
        self.arrival = request.progress.arrived or time.monotonic()
        """Also at a successor of the front to which it came: a clip whose fronts keep dying has waited ever longer."""
        self.admitted = False
        """True if the stream was admitted: the workers work for it."""
        self.first_due = 0.0
        """Time at which its first sample should exist; `Admission` sets it."""
        self.promised = 0.0
        """Time by which its first sample will exist even if much other audio is to be made; `Admission` sets it."""
        self.sounds_since: float | None = None
        """Time at which its first block arrived; None before that."""

    @property
    def sounds(self) -> bool:
        """True once its first block has arrived."""
        return self.sounds_since is not None

    def first_block(self) -> None:
        """Note the arrival of a block; only the first one counts."""
        self.sounds_since = self.sounds_since or time.monotonic()
        self._request.stages.reach("first_block")

    @property
    def starts(self) -> float:
        """Time at which its listener hears, or should hear, the first sample."""
        if self._request.urgency is not Urgency.LISTENING:
            return self.first_due
        return self._playback.starts(self.sounds_since or self.first_due)

    @property
    def dry_at(self) -> float:
        """Time at which its listener will have heard all samples that are made."""
        return self.starts + (self._playback.position + self._segments.ready) / self._playback.sample_rate

    def deadline(self, segment: StreamSegment) -> float:
        """Time at which the segment's sample 0 must exist: the moment at which the listener's buffer runs dry.

        A stream that nobody hears is never due sooner than in `YIELD` seconds: however late it is, those who listen and
        have less than that left to hear come first, and it takes the rest of the machine from those who have more.
        """
        before = self._playback.position + self._segments.samples_before(segment)
        due = self.starts + before / self._playback.sample_rate
        return due if self._request.urgency is Urgency.LISTENING else max(due, time.monotonic() + YIELD)


_NEWS = np.zeros(0, np.int16)
"""The piece that tells the listener of a flush."""


def word_timings(
    segment: StreamSegment, own: int, stream: int, sample_rate: int, *, visemes: bool = False
) -> list[WordTiming]:
    """The segment's words at the times at which its listener hears them: its sample `own` is the stream's sample
    `stream`, and no word begins before that."""
    marks = segment.marks or [(0, 0)]  # a segment without a sound has no marks

    def heard(sample: int) -> float:
        return (stream + max(sample - own, 0)) / sample_rate

    spoken = segment.segment.words
    words = align(spoken, marks, heard)
    if visemes:
        told = (word for word in spoken if word.written)
        script = segment.segment.script
        words = [
            replace(word, visemes=visemes_of(of, script, marks, heard)) for word, of in zip(words, told, strict=True)
        ]
    performer = segment.segment.performer
    return [replace(word, voice=performer.name) for word in words] if performer else words


class Stream:
    """One request's speech. It lives on the event loop; only its text is read in a thread."""

    def __init__(
        self,
        number: int,
        request: SpeechRequest,
        engine: EngineInfo,
        text: TextAhead,
        sounds: OwnSounds,
        *,
        fill: Callable[[Stream], Coroutine[None, None, None]],
        took: Callable[[SealedBlock], None],
        gap: Callable[[Stream], None],
        closed: Callable[[Stream], None],
        real_time_factor: Callable[[Stream], float | None],
    ) -> None:
        """
        Args:
            fill: reads the stream's text to its end, and puts its segments into the stream's queue.
            took: called when the listener has taken a block.
            gap: called when the listener has heard a gap.
            closed: called at the end: none of the stream's audio is wanted any more.
            real_time_factor: predicts `real_time_factor`.
        """
        self.number = number
        """Number that is unique within a front's life; log lines and workers identify the stream by it."""
        request.stages.stream, request.stages.request_id = number, request.request_id
        self.request = request
        self.engine = engine
        self.text = text
        self.sounds = sounds
        self.tokens = 0
        self.segments = SegmentQueue()
        self.playback = Playback(engine.sample_rate)
        request.progress.clock = lambda: (self.playback.position, self.playback.since or 0.0)
        if left := request.progress.left:
            self.playback.resume(left.samples, left.since)
        self.timing = Timing(request, self.segments, self.playback)
        self._words: list[WordTiming] = []
        self._worded = -1
        """Index of the last segment whose words were told."""
        self._sentences: list[SentenceTiming] = []
        """Sentences whose audio has begun; a segment holds at most one sentence's beginning."""
        self._told_sentence = SentenceStart(-1, "")
        self._took, self._gap, self._closed, self._predict = took, gap, closed, real_time_factor
        self._failure: SpeechError | TextError | None = None
        self._changed = asyncio.Event()
        self.flushed = 0
        self._told_flushes = 0
        self.cached = True
        """False once a segment that isn't in the cache was found."""
        self._planning = asyncio.create_task(fill(self))

    @property
    def seconds_left(self) -> float:
        if not self.segments and not self.playback.begun:
            return self.timing.arrival - time.monotonic()
        planned = sum(segment.length - segment.taken for segment in self.segments)
        return self.timing.starts + (self.playback.position + planned) / self.engine.sample_rate - time.monotonic()

    @property
    def making(self) -> bool:
        return any(segment.state in (SegmentState.PLANNED, SegmentState.DISPATCHED) for segment in self.segments)

    @property
    def failed(self) -> bool:
        """True if the stream ends after the samples that are sealed."""
        return self._failure is not None

    async def all_cached(self) -> bool:
        while self.cached and not (self._failure or self.text.ended or len(self.segments) >= UNHEARD):
            self._changed.clear()
            await self._changed.wait()
        return self.text.ended and self.cached and not self._failure

    async def accepted(self) -> bool:
        while not (self.timing.admitted or self.timing.sounds or self._failure):
            self._changed.clear()
            await self._changed.wait()
        return not self._failure

    def note_plan(self, first: int = 0) -> None:
        """Keep the planned segments from that index on, for a successor of this front."""
        for planned in self.segments:
            if planned.index >= first:
                self.request.progress.planned(planned.index, len(planned.segment.units), planned.key)

    def progress(self) -> None:
        """Wake the tasks that wait for news: the text was read further, a block was sealed, or a segment ended."""
        self._changed.set()

    def fail(self, error: SpeechError | TextError) -> None:
        """End the stream after the samples that are sealed. The first failure counts."""
        self._failure = self._failure or error
        self.text.let_end()
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        while True:
            self._changed.clear()
            head = self.segments.head
            if self.flushed > self._told_flushes:
                self._told_flushes = self.flushed
                for samples in self.playback.give(self.playback.drain()):
                    yield samples
                yield _NEWS
            elif head and head.blocks:
                for samples in self._take_block(head):
                    yield samples
            elif head and head.state is SegmentState.DONE:
                for samples in self._end_segment(head):
                    yield samples
            elif self._failure:
                raise self._failure
            elif self.text.ended and not head:
                for samples in self.playback.give(self.playback.finish()):
                    yield samples
                return
            else:
                await self._changed.wait()
                if self.segments and self.segments[0].blocks and self.playback.heard_gap():
                    self._gap(self)

    async def scores(self) -> AsyncIterator[tuple[Segment, float, Score]]:
        written: list[Pcm] = []
        while True:
            self._changed.clear()
            head = self.segments.head
            if head and head.blocks:
                block = head.blocks.popleft()
                written += (piece.copy() for piece in block.pieces)
                head.taken += sum(map(len, block.pieces))
                self._took(block)
            elif head and head.state is SegmentState.DONE:
                yield head.segment, head.speed, unpack(np.concatenate(written).tobytes())
                written.clear()
                self.segments.heard()
                self.text.mind(self.segments)
            elif self._failure:
                raise self._failure
            elif self.text.ended and not head:
                return
            else:
                await self._changed.wait()

    def _take_block(self, head: StreamSegment) -> Iterator[Pcm]:
        block, segment = head.blocks.popleft(), head.segment
        self.request.progress.heard = head.index + 1
        pause = pause_after(segment.cut, head.speed, segment.pause)
        for piece in block.pieces:
            head.taken += len(piece)
            joined = self.playback.push(piece, pause)
            self._tell_times(head)
            yield from self.playback.give(joined)
        self._took(block)

    def _end_segment(self, head: StreamSegment) -> Iterator[Pcm]:
        self._tell_times(head, ended=True)
        self.playback.end(head.segment.cut, head.speed, head.segment.pause)
        self.segments.heard()
        self.flushed += head.flushes
        self.tokens += head.segment.tokens
        self.text.mind(self.segments)
        if head.segment.cut is Cut.SEAM:  # what follows may not be written yet
            yield from self.playback.give(self.playback.drain())

    def _tell_times(self, head: StreamSegment, ended: bool = False) -> None:
        """Tell the segment's sentence and words once its position in the stream is known; a silent one's at its end."""
        if not (self.playback.placed or ended):
            return
        own, start = self.playback.placed or (0, self.playback.position)
        begun = head.segment.units[0].sentence if self.request.sentences and head.segment.units else None
        if begun and begun.number >= self._told_sentence.number and begun != self._told_sentence:
            self._told_sentence = begun
            self._sentences.append(SentenceTiming(begun.number, begun.text, start))
        if self.request.timestamps and head.index != self._worded:
            self._worded = head.index
            self._words += word_timings(head, own, start, self.engine.sample_rate, visemes=self.request.visemes)

    def take_words(self) -> list[WordTiming]:
        words, self._words = self._words, []
        return words

    def take_sentences(self) -> list[SentenceTiming]:
        sentences, self._sentences = self._sentences, []
        return sentences

    @property
    def real_time_factor(self) -> float | None:
        return self._predict(self)

    def close(self) -> None:
        self.fail(Interrupted("the stream was closed"))
        self._planning.cancel()
        self._closed(self)
        self.sounds.drop_uncached()
        self.segments.clear()  # blocks keep whole arenas of dead generations alive
