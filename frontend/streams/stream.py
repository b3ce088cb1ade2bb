"""One request's audio: workers make its segments, and their blocks are given out in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from frontend.contract.errors import Interrupted, SpeechError
from frontend.contract.request import SpeechRequest
from frontend.contract.sentence_timing import SentenceTiming
from frontend.contract.word_timing import WordTiming
from frontend.streams.playback import Playback, Timing
from frontend.streams.segments import PlannedSegment, SealedBlock, SegmentQueue, SegmentState
from frontend.streams.text_ahead import UNHEARD, TextAhead
from frontend.timestamps.align import align
from shm.audio import SAMPLE_RATE, Pcm
from shm.engine_info import EngineInfo
from text.errors import TextError

# Times at which a stream's words sound for its listener.


class WordTimes:
    """Words whose audio has begun, reported once per segment."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._words: list[WordTiming] = []
        self._told = -1
        """Index of the last segment whose words were reported."""

    def tell(self, segment: PlannedSegment, ended: bool = False) -> None:
        """Report the segment's words once its position in the stream is known; a silent segment's words at its end."""
        if segment.index == self._told or not (self._playback.placed or ended):
            return
        own, stream = self._playback.placed or (0, self._playback.position)
        self._told = segment.index
        marks = segment.marks or [(0, 0)]  # a segment without a sound has no marks
        words = align(segment.segment.words, marks, lambda sample: stream + max(sample - own, 0))
        performer = segment.segment.performer
        self._words += [replace(word, voice=performer.name) for word in words] if performer else words

    def take(self) -> list[WordTiming]:
        """Return the words reported since the last call."""
        words, self._words = self._words, []
        return words


# Samples at which a stream's sentences begin for its listener.


class SentenceTimes:
    """Sentences whose audio has begun, each reported once. A segment holds at most one sentence's beginning."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._begun: list[SentenceTiming] = []
        self._told = -1
        """Number of the last sentence that was reported."""

    def tell(self, segment: PlannedSegment, ended: bool = False) -> None:
        """Report the sentence that begins with the segment, once its position is known; a silent one's at its end."""
        sentence = segment.segment.units[0].sentence if segment.segment.units else None
        if sentence is None or sentence.number <= self._told or not (self._playback.placed or ended):
            return
        _, start = self._playback.placed or (0, self._playback.position)
        self._told = sentence.number
        self._begun.append(SentenceTiming(sentence.number, sentence.text, start))

    def take(self) -> list[SentenceTiming]:
        """Return the sentences reported since the last call."""
        begun, self._begun = self._begun, []
        return begun


_NEWS = np.zeros(0, np.int16)
"""The piece that tells the listener of a flush."""


class Host(Protocol):
    """The scheduler's services for a stream."""

    async def fill(self, stream: Stream) -> None:
        """Read the stream's text to its end, and put its segments into the stream's queue."""
        ...

    def took(self, block: SealedBlock) -> None:
        """Note that the listener has taken the block."""
        ...

    def ran_dry(self, stream: Stream) -> None:
        """Note that the listener heard a gap."""
        ...

    def real_time_factor(self, stream: Stream) -> float | None:
        """Predicted seconds of work per second of the stream's audio; None before the engine was measured."""
        ...

    def forget(self, stream: Stream) -> None:
        """Forget a closed stream: none of its audio is wanted any more."""
        ...


class Stream:
    """One request's speech. It lives on the event loop; only its text is read in a
    thread."""

    def __init__(self, number: int, request: SpeechRequest, engine: EngineInfo, text: TextAhead, host: Host) -> None:
        self.number = number
        """Number that is unique within a front's life; log lines and workers identify the stream by it."""
        request.stages.stream = number
        self.request = request
        self.engine = engine
        self.text = text
        self.tokens = 0
        self.segments = SegmentQueue()
        self.playback = Playback()
        self.timing = Timing(request, self.segments, self.playback)
        self._words = WordTimes(self.playback)
        self._sentences = SentenceTimes(self.playback)
        self._host = host
        self._failure: SpeechError | TextError | None = None
        self._changed = asyncio.Event()
        self.flushed = 0
        self._told_flushes = 0
        self.cached = True
        """False once a segment that isn't in the cache was found."""
        self._planning = asyncio.create_task(host.fill(self))

    @property
    def seconds_left(self) -> float:
        if not self.segments and not self.playback.begun:
            return self.timing.arrival - time.monotonic()
        planned = sum(segment.length - segment.taken for segment in self.segments)
        return self.timing.starts + (self.playback.position + planned) / SAMPLE_RATE - time.monotonic()

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
                self._end_segment(head)
            elif self._failure:
                raise self._failure
            elif self.text.ended and not head:
                for samples in self.playback.give(self.playback.finish()):
                    yield samples
                return
            else:
                await self._changed.wait()
                if self.segments and self.segments[0].blocks and self.playback.heard_gap():
                    self._host.ran_dry(self)

    def _take_block(self, head: PlannedSegment) -> Iterator[Pcm]:
        block = head.blocks.popleft()
        for piece in block.pieces:
            head.taken += len(piece)
            joined = self.playback.push(piece, head)
            self._tell_times(head)
            yield from self.playback.give(joined)
        self._host.took(block)

    def _end_segment(self, head: PlannedSegment) -> None:
        self._tell_times(head, ended=True)
        self.playback.end(head)
        self.segments.heard()
        self.flushed += head.flushes
        self.tokens += head.segment.tokens
        self.text.mind(self.segments)

    def _tell_times(self, head: PlannedSegment, ended: bool = False) -> None:
        if self.request.sentences:
            self._sentences.tell(head, ended)
        if self.request.timestamps:
            self._words.tell(head, ended)

    def take_words(self) -> list[WordTiming]:
        return self._words.take()

    def take_sentences(self) -> list[SentenceTiming]:
        return self._sentences.take()

    @property
    def real_time_factor(self) -> float | None:
        return self._host.real_time_factor(self)

    def close(self) -> None:
        self.fail(Interrupted("the stream was closed"))
        self._planning.cancel()
        self._host.forget(self)
        self.segments.clear()  # blocks keep whole arenas of dead generations alive
