"""A context: one stream of audio for a text that its client is still writing."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import closing

import numpy as np

from frontend.audio.encoding import Encoding
from frontend.audio.pieces import chunks
from frontend.contexts.events import Event, Flushed, Spoken
from frontend.contexts.pending import PendingText
from frontend.contexts.services import Services
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import Interrupted, NothingToSpeak
from frontend.contract.growing_text import GrowingText, TextPart
from frontend.contract.request import MarkupKind, SpeechRequest
from frontend.contract.speaker import SpeechStream
from frontend.contract.word_timing import WordTiming
from frontend.monitoring.listening import Listening
from frontend.text.growth import Growth
from shm.audio import SAMPLE_RATE, Pcm

SILENCE = SAMPLE_RATE // 10
"""Samples of silence that are given for a text that has no sound."""

IDLE_AFTER = 1.0
"""Seconds for which a listener has heard nothing and no text has come, after which a context gives back its ring."""


class Context:
    """One context. Call `write`, `flush` and `finish` as its client sends, and iterate over it once, in one task.

    The context counts as a stream from its first complete sentence. It gives back ring and place when its text is
    spoken and no more has come for a while (`IDLE_AFTER`); later text gets another stream, whose audio follows.
    """

    def __init__(self, services: Services, voicing: Voicing, *, whole: bool = False) -> None:
        """`whole`: all of the text comes in one piece. It is then left to the reader, whose thread doesn't keep the
        event loop from other clients."""
        self.voicing = voicing
        self.finished = False
        """True once no more text is taken."""
        self.sounded = False
        """True once audio was given."""
        self._services = services
        growth = Growth(voicing.language, whole=whole or voicing.markup is not MarkupKind.NONE)
        limit = services.settings.max_input_characters
        self._pending = PendingText(growth, services.in_flight, limit, voicing.patience, self._seconds_left)
        self._stream: SpeechStream | None = None
        self._encoding: Encoding | None = None
        self._listening: Listening | None = None
        self._reports: deque[bool] = deque()
        """For each flush whose audio wasn't given yet, whether it is reported."""
        self._passed = 0
        """Flushes whose audio was given."""
        self._reported = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closed = False
        services.open.contexts += 1

    @property
    def speaking(self) -> bool:
        """True while audio of the context is being made, or given to its listener."""
        return self._stream is not None or bool(self._pending.growing.first)

    @property
    def empty(self) -> bool:
        """True while all text of the context is spoken, and its audio given."""
        return not (self.speaking or self._pending.held)

    def write(self, text: str, *, settled: bool = False) -> None:
        """Take more text, in pieces of any size. Nothing happens after `finish`.

        Args:
            settled: the client sends whole sentences or phrases; a text that ends like a sentence is one at once.

        Raises:
            ApiError: 413, too much text waits to be spoken; 400, fronts have died of the text.
        """
        if not self.finished:
            self._pending.write(text, settled)

    def flush(self, *, report: bool = True) -> None:
        """Have all text so far spoken. Nothing happens after `finish`.

        Args:
            report: a `Flushed` follows the audio.

        Raises:
            ApiError: 400, fronts have died of the text.
        """
        if not self.finished:
            self._pending.flush()
            self._reports.append(report)

    def finish(self) -> None:
        """Have the rest spoken; the iteration ends after its audio. Idempotent.

        Raises:
            ApiError: 400, fronts have died of the text; the iteration ends with it, too.
        """
        if not self.finished:
            self.finished = True
            self._pending.end()

    def close(self) -> None:
        """End the context now, whatever is being spoken: its ring is free when this returns, and an iteration that is
        under way ends. Idempotent; every context must be closed."""
        if self._closed:
            return
        self._closed = self.finished = True
        self._services.open.contexts -= 1
        self._pending.close()
        self._pending.growing.end()
        self._pending.growing.close()
        self._rest_idle_timer()
        if self._stream is not None:
            self._stream.close()
        if self._encoding is not None:
            self._encoding.close()

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        """The context's events, until its audio is whole or it is closed.

        Raises:
            ApiError, SpeechError: the audio ends here, incomplete.
        """
        try:
            while part := await self._next_part():
                growing = self._pending.growing
                if part.text:
                    async for event in self._speak(growing, part):
                        yield event
                else:
                    for flushed in self._pass(growing.skip().flush):
                        yield flushed
            if self._pending.failure is not None:
                raise self._pending.failure
            if self._encoding is not None and self._listening is not None and not self._closed:
                if not self._listening.samples:
                    # Some clients take a text without any audio for a failure, and ask again.
                    async for event in self._encoded(self._encoding, np.zeros(SILENCE, np.int16), ()):
                        yield event
                self._check_open()
                last = await self._encoding.finish()
                self._check_open()
                yield self._spoken(self._encoding, last)
        except Interrupted:
            if not self._closed:
                raise

    async def _next_part(self) -> TextPart | None:
        """The next part of the text, which stays in its queue; None once no more text comes."""
        while not self._closed:
            growing = self._pending.growing
            await growing.more()
            if growing.first or growing is self._pending.growing:
                return growing.first
        return None

    async def _speak(self, growing: GrowingText, first: TextPart) -> AsyncIterator[Event]:
        """The events of one stream, from its first part until it is idle or the text ends."""
        started, request, before = time.monotonic(), self._request(growing, first), self._passed
        with closing(self._services.speaker.open(request)) as stream, self._services.metrics.speaking():
            self._stream = stream
            offset = self._listening.samples / SAMPLE_RATE if self._listening else 0.0
            self._listening = self._listening or Listening(self._services.metrics, started, request.stages)
            encoding = self._encoding = self._encoding or self._open_encoding()
            self._look_for_idleness(growing)
            try:
                async for piece in stream:
                    words = [word.later(offset) for word in stream.take_words()]
                    async for event in self._encoded(encoding, piece, words):
                        if event.audio:
                            growing.audio_left()
                        yield event
                    for flushed in self._pass(before + stream.flushed - self._passed):
                        yield flushed
                if last := stream.take_words():
                    yield self._spoken(encoding, b"", [word.later(offset) for word in last])
            except NothingToSpeak:
                pass
            finally:
                self._rest_idle_timer()
                growing.close()
                self._stream = None
        for text in growing.texts:
            self._services.in_flight.clear(text)

    async def _encoded(self, encoding: Encoding, piece: Pcm, words: Sequence[WordTiming]) -> AsyncIterator[Spoken]:
        assert self._listening is not None
        for chunk in chunks(piece, self._services.settings.chunk_ms):
            self._check_open()
            self._listening.encoded(chunk)
            audio = await encoding.encode(chunk)
            self._check_open()
            if audio or words:
                yield self._spoken(encoding, audio, words)
                words = ()
        if words:
            yield self._spoken(encoding, b"", words)

    def _check_open(self) -> None:
        """Raise `Interrupted` if the context was closed meanwhile, and its encoder with it: a closed codec crashes."""
        if self._closed:
            raise Interrupted("the context was closed")

    def _spoken(self, encoding: Encoding, audio: bytes, words: Sequence[WordTiming] = ()) -> Spoken:
        assert self._listening is not None
        seconds = encoding.given_out
        self._listening.given(seconds)
        self.sounded |= bool(audio)
        return Spoken(audio, seconds, words)

    def _pass(self, flushes: int) -> Iterator[Flushed]:
        """Note that the audio before so many more flushes was given; the events of those that are reported."""
        for _ in range(flushes):
            self._passed += 1
            if self._reports.popleft():
                self._reported += 1
                yield Flushed(self._reported)

    def _request(self, growing: GrowingText, first: TextPart) -> SpeechRequest:
        voicing, engine = self.voicing, self._services.speaker.engine
        return SpeechRequest(
            request_id=voicing.request_id,
            text=first.text,
            voice=voicing.voice,
            language=voicing.language,
            speed=voicing.speed,
            markup=voicing.markup,
            rules_off=voicing.rules_off,
            timestamps=voicing.timestamps and engine is not None and engine.marks,
            client=voicing.client,
            fresh=voicing.fresh,
            growing=growing,
        )

    def _open_encoding(self) -> Encoding:
        voicing = self.voicing
        return self._services.encoders.open(voicing.format, voicing.sample_rate, whole=False, bit_rate=voicing.bit_rate)

    def _seconds_left(self) -> float:
        return self._stream.seconds_left if self._stream is not None else 0.0

    def _look_for_idleness(self, growing: GrowingText) -> None:
        if not growing.ended and growing.first is None and self._seconds_left() < -IDLE_AFTER:
            self._pending.renew()
            return
        loop = asyncio.get_running_loop()
        self._idle_timer = loop.call_later(IDLE_AFTER / 2, self._look_for_idleness, growing)

    def _rest_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
