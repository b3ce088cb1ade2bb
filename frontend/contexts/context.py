"""A context: one stream of audio for a text that its client is still writing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import replace

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

IDLE_AFTER = 1.0
"""Seconds for which a listener has heard nothing and no text has come, after which a context gives back its ring."""


class Context:
    """One context. Call `write`, `flush` and `finish` as its client sends, and iterate over it once, in one task.

    The context counts as a stream from its first complete sentence. It gives back ring and place when its text is
    spoken and no more has come for a while (`IDLE_AFTER`); later text gets another stream, whose audio follows.
    """

    def __init__(self, services: Services, voicing: Voicing) -> None:
        self.voicing = voicing
        self.finished = False
        """True once no more text is taken."""
        self._services = services
        growth = Growth(voicing.language, whole=voicing.markup is not MarkupKind.NONE)
        limit = services.settings.max_input_characters
        self._pending = PendingText(growth, services.in_flight, limit, voicing.patience, self._seconds_left)
        self._stream: SpeechStream | None = None
        self._encoding: Encoding | None = None
        self._listening: Listening | None = None
        self._flushes = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closed = False
        services.open.contexts += 1

    def write(self, text: str) -> None:
        """Take more text, in pieces of any size. Nothing happens after `finish`.

        Raises:
            ApiError: 413, too much text waits to be spoken; 400, fronts have died of the text.
        """
        if not self.finished:
            self._pending.write(text)

    def flush(self) -> None:
        """Have all text so far spoken; a `Flushed` follows its audio. Nothing happens after `finish`.

        Raises:
            ApiError: 400, fronts have died of the text.
        """
        if not self.finished:
            self._pending.flush()

    def finish(self) -> None:
        """Have the rest spoken; the iteration ends after its audio. Idempotent.

        Raises:
            ApiError: 400, fronts have died of the text.
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

    async def __aiter__(self) -> AsyncIterator[Event]:
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
                elif growing.skip().flush:
                    yield self._flushed()
            if self._encoding is not None and not self._closed:
                yield self._spoken(self._encoding, await self._encoding.finish())
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
        started, request, before = time.monotonic(), self._request(growing, first), self._flushes
        with closing(self._services.speaker.open(request)) as self._stream, self._services.metrics.speaking():
            offset = self._listening.samples / SAMPLE_RATE if self._listening else 0.0
            self._listening = self._listening or Listening(self._services.metrics, started, request.stages)
            encoding = self._encoding = self._encoding or self._open_encoding()
            self._look_for_idleness(growing)
            try:
                async for piece in self._stream:
                    words = [_later(word, offset) for word in self._stream.take_words()]
                    async for event in self._encoded(encoding, piece, words):
                        yield event
                    while self._flushes < before + self._stream.flushed:
                        yield self._flushed()
                if words := self._stream.take_words():
                    yield self._spoken(encoding, b"", [_later(word, offset) for word in words])
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
            self._listening.encoded(chunk)
            audio = await encoding.encode(chunk)
            if audio or words:
                yield self._spoken(encoding, audio, words)
                words = ()
        if words:
            yield self._spoken(encoding, b"", words)

    def _spoken(self, encoding: Encoding, audio: bytes, words: Sequence[WordTiming] = ()) -> Spoken:
        assert self._listening is not None
        seconds = encoding.given_out
        self._listening.given(seconds)
        return Spoken(audio, seconds, words)

    def _flushed(self) -> Flushed:
        self._flushes += 1
        return Flushed(self._flushes)

    def _request(self, growing: GrowingText, first: TextPart) -> SpeechRequest:
        voicing, engine = self.voicing, self._services.speaker.engine
        return SpeechRequest(
            request_id=voicing.request_id,
            text=first.text,
            voice=voicing.voice,
            language=voicing.language,
            speed=voicing.speed,
            markup=voicing.markup,
            timestamps=voicing.timestamps and engine is not None and engine.marks,
            client=voicing.client,
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


def _later(word: WordTiming, seconds: float) -> WordTiming:
    return replace(word, start=word.start + seconds, end=word.end + seconds)
