"""A context: one stream of audio for a text that its client is still writing, encoded chunk by chunk and counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any

import numpy as np

from frontend.audio.encoders import Resampler, chunks
from frontend.audio.formats import OutputFormat
from frontend.contexts.events import Event, Flushed, Spoken
from frontend.contexts.journal import ContextNotes, Settled
from frontend.contexts.pending import PendingText, opening_of_held
from frontend.contract.countdown import Countdown
from frontend.contract.errors import Interrupted, NothingToSpeak
from frontend.contract.growing_text import GrowingText, TextPart
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import SpeechStream
from frontend.contract.stages import Stages
from frontend.monitoring.listening import Listening
from frontend.serving.services import Services
from shm.audio import Pcm
from shm.timing import WordTiming
from text.markup.marked import MarkupKind
from text.sentences.growth import Growth

SILENCE_SECONDS = 0.1
"""Silence that is given for a text that has no sound."""


class ContextAudio:
    """The encoder of all streams of a context, and the figures of its listener.

    Another engine may make a later stream: its samples are brought to the first stream's rate.
    """

    def __init__(
        self, services: Services, output: OutputFormat, rate: int, started: float, stages: Stages, notes: ContextNotes
    ) -> None:
        """Arguments are those of `begins`, for the first stream. `notes`: the context's."""
        self._rate = rate
        self._resampler: Resampler | None = None
        self.sounded = False
        """True once audio was given."""
        self._before = notes.settled.seconds
        """Seconds of audio that were told by a killed front, and that this encoder hasn't."""
        self.is_free = output.format.codec is None and output.format.samples != "wav" and output.sample_rate == rate
        """True if what follows doesn't depend on what came before."""
        self._chunk_ms = services.settings.chunk_ms
        self._encoding = services.encoders.open(output, rate, whole=False, number=notes.encoder)
        self._listening = Listening(services.metrics, started, stages, rate, heard=not notes.had_audio)
        self._closed = False

    def begins(self, sample_rate: int, started: float, stages: Stages) -> None:
        """Take a stream, asked for at `started` (`time.monotonic()`), of an engine of this rate; time its first
        audio."""
        self._resampler = None if sample_rate == self._rate else Resampler(sample_rate, self._rate)
        self._listening.begins(started, stages)

    @property
    def seconds(self) -> float:
        """Duration of all samples that were encoded so far."""
        return self._before + self._listening.seconds

    async def encode(self, piece: Pcm, words: Sequence[WordTiming] = ()) -> AsyncIterator[Spoken]:
        """Encode a piece; its audio, the first of which has the words.

        Raises:
            Interrupted: the audio was closed.
        """
        if self._resampler:
            piece = self._resampler.resampled(piece)
        for chunk in chunks(piece, self._chunk_ms, self._rate):
            self._check_open()
            self._listening.encoded(chunk)
            audio = await self._encoding.encode(chunk)
            self._check_open()
            if audio or words:
                yield self.given(audio, words)
                words = ()
        if words:
            yield self.given(b"", words)

    async def ends(self) -> AsyncIterator[Spoken]:
        """End a stream: the audio that its resampling has held back."""
        if resampler := self._resampler:
            self._resampler = None
            async for event in self.encode(resampler.rest()):
                yield event

    async def finish(self) -> AsyncIterator[Spoken]:
        """End the encoder's stream; its remaining audio, after a silence if the text had no sound.

        Raises:
            Interrupted: the audio was closed.
        """
        if not self.seconds:
            # Some clients take a text without any audio for a failure, and ask again.
            async for event in self.encode(np.zeros(round(SILENCE_SECONDS * self._rate), np.int16)):
                yield event
        self._check_open()
        last = await self._encoding.finish()
        self._check_open()
        yield self.given(last)

    def given(self, audio: bytes, words: Sequence[WordTiming] = ()) -> Spoken:
        """The event that gives the listener this audio."""
        seconds = self._encoding.given_out
        self._listening.given(seconds)
        self.sounded |= bool(audio)
        return Spoken(audio, self._before + seconds, words)

    def interrupt(self) -> None:
        """Close the encoder; calls that are under way end with `Interrupted`."""
        self._closed = True
        self._encoding.close()

    def _check_open(self) -> None:
        """Raise `Interrupted` if the context was closed meanwhile, and its encoder with it: a closed codec crashes."""
        if self._closed:
            raise Interrupted("the context was closed")


class Flushes:
    """A context's flushes, whose reports follow the audio before them. Call `add` for each one, in order, and `reach`
    as the audio is given."""

    def __init__(self, settled: Settled) -> None:
        self.reached = settled.reached
        """Flushes whose audio was given."""
        self._reports: deque[bool] = deque()
        """Flushes whose audio wasn't given yet: True for each that is reported."""
        self._reported = settled.flushes

    def add(self, report: bool) -> None:
        """Note a flush. `report`: a `Flushed` follows its audio."""
        self._reports.append(report)

    def reach(self, count: int) -> Iterator[Flushed]:
        """Note that the audio before the first `count` flushes was given; the events of those that are reported."""
        while self.reached < count:
            self.reached += 1
            if self._reports.popleft():
                self._reported += 1
                yield Flushed(self._reported)


IDLE_AFTER = 1.0
"""Seconds for which a listener has heard nothing and no text has come, after which a context gives back its ring."""


class Context:
    """One context. Call `write`, `flush` and `finish` as its client sends, and iterate over it once, in one task.

    The context counts as a stream from its first complete sentence. It gives back ring and place when its text is
    spoken and no more has come for a while (`IDLE_AFTER`); later text gets another stream, whose audio follows.
    """

    def __init__(
        self,
        services: Services,
        asked: SpeechRequest,
        output: OutputFormat,
        *,
        patience: float | None = None,
        whole: bool = False,
        notes: ContextNotes | None = None,
    ) -> None:
        """
        Args:
            asked: the speech without its text. With markup, the text between two flushes is one document.
            patience: seconds after which text is spoken although its sentence isn't complete; None: never before a
                flush.
            whole: all of the text comes in one piece. It is then left to the reader, whose thread doesn't keep the
                event loop from other clients.
            notes: what a successor of this front must know of the context. If they are a killed front's, the context is
                as it was, and gives what its client doesn't have.
        """
        self.notes = notes or ContextNotes()
        self.asked = asked
        self.output = output
        self.patience = patience
        self.finished = False
        """True once no more text is taken."""
        self._services = services
        growth = Growth(asked.language, whole=whole or asked.markup is not MarkupKind.NONE)
        limit = services.settings.max_input_characters
        opening = opening_of_held(services, asked)
        self._pending = PendingText(
            growth, services.in_flight, limit, patience, lambda: self._stream, self.notes, opening
        )
        self._stream: SpeechStream | None = None
        self._audio: ContextAudio | None = None
        self._flushes = Flushes(self.notes.settled)
        self._idleness = Countdown(self._look_for_idleness)
        self._closed = False
        services.open.contexts += 1
        with self._pending.repeating():
            for kind, *values in self.notes.calls:
                self._repeat(kind, *values)

    def _repeat(self, kind: str, *values: Any) -> None:
        pending = self._pending
        match kind:
            case "write":
                pending.write(*values)
            case "flush":
                self.flush(report=values[0])
            case "finish":
                self.finish()
            case "rest":
                pending.give_rest()
            case "ended":
                pending.give_ended()
            case "renew":
                pending.renew(values[-1])
            case "opening":
                pending.give_opening(*values)
            case "said":
                pending.said = pending.before = values[0]
            case "hurry":
                stream, parts = values
                next(text for text in pending.texts if text.number == stream).hurry(parts)

    @property
    def speaking(self) -> bool:
        """True while audio of the context is being made, or given to its listener."""
        return self._stream is not None or any(text.first for text in self._pending.texts)

    @property
    def empty(self) -> bool:
        """True while all text of the context is spoken, and its audio given."""
        return not (self.speaking or self._pending.held)

    @property
    def sounded(self) -> bool:
        """True once audio was given."""
        return (self._audio is not None and self._audio.sounded) or self.notes.had_audio

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
            self.notes.note("flush", report)
            self._pending.flush()
            self._flushes.add(report)

    def finish(self) -> None:
        """Have the rest spoken; the iteration ends after its audio. Idempotent.

        Raises:
            ApiError: 400, fronts have died of the text; the iteration ends with it, too.
        """
        if not self.finished:
            self.finished = True
            self.notes.note("finish")
            self._pending.end()

    def drop(self) -> None:
        """End the context now, whatever is being spoken: its ring is free when this returns, and an iteration that is
        under way ends. Idempotent; every context must be dropped."""
        if self._closed:
            return
        self._closed = self.finished = True
        self._services.open.contexts -= 1
        self._pending.stop_countdown()
        for text in self._pending.texts:
            text.end()
            text.leave_board()
        self._idleness.stop()
        if self._stream is not None:
            self._stream.close()
        if self._audio is not None:
            self._audio.interrupt()

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        """The context's events that its client doesn't have, until its audio is whole or it is closed.

        Raises:
            ApiError, SpeechError: the audio ends here, incomplete.
        """
        async with aclosing(self._events()) as events:
            async for event in events:
                if (untold := self.notes.untold(event)) is not None:
                    yield untold

    async def _events(self) -> AsyncGenerator[Event, None]:
        try:
            while part := await self._next_part():
                growing = self._pending.texts[0]
                if part.text:
                    async for event in self._speak(growing, part):
                        yield event
                else:
                    for flushed in self._flushes.reach(self._flushes.reached + growing.skip().flush):
                        yield flushed
            if self._pending.failure is not None:
                raise self._pending.failure
            if self._audio is not None and not self._closed:
                async for event in self._audio.finish():
                    yield event
        except Interrupted:
            if not self._closed:
                raise

    async def _next_part(self) -> TextPart | None:
        """The next part of the text, which stays in its queue; None once no more text comes."""
        while not self._closed:
            growing = self._pending.texts[0]
            await growing.more()
            if growing.first or growing is self._pending.growing:
                return growing.first
            self._pending.spoken()
        return None

    async def _speak(self, growing: GrowingText, first: TextPart) -> AsyncIterator[Event]:
        """The events of one stream, from its first part until it is idle or the text ends."""
        started, request = time.monotonic(), self._request(growing, first)
        flushed_before = self._flushes.reached
        with closing(self._services.speaker.open(request)) as stream, self._services.metrics.speaking():
            self._stream = stream
            self.notes.note("profile", growing.number, request.progress.profile)
            rate = stream.engine.sample_rate
            audio = self._audio = self._audio or ContextAudio(
                self._services, self.output, rate, started, request.stages, self.notes
            )
            audio.begins(rate, started, request.stages)
            offset = audio.seconds
            self._look_for_idleness()
            try:
                async for piece in stream:
                    words = [word.later(offset) for word in stream.take_words()]
                    async for event in audio.encode(piece, words):
                        if event.audio:
                            growing.audio_left()
                        yield event
                    for flushed in self._flushes.reach(flushed_before + stream.flushed):
                        yield flushed
                async for event in audio.ends():
                    yield event
                if last := stream.take_words():
                    yield audio.given(b"", [word.later(offset) for word in last])
            except NothingToSpeak:
                pass
            finally:
                self._idleness.stop()
                growing.leave_board()
                self._stream = None
        self._clear(growing)
        if len(self._pending.texts) > 1 and not self._closed and audio.is_free:
            self.notes.settle(growing.number + 1, self._flushes.reached, audio.seconds)
        self.notes.keep()

    def _clear(self, growing: GrowingText) -> None:
        for text in growing.texts:
            self._services.in_flight.clear(text)

    def _request(self, growing: GrowingText, first: TextPart) -> SpeechRequest:
        engine = self._services.speaker.engine
        timestamps = self.asked.timestamps and engine is not None and engine.marks
        progress = self.notes.progress(growing.number, lambda: self._clear(growing))
        return replace(
            self.asked, text=first.text, timestamps=timestamps, growing=growing, progress=progress, stages=Stages()
        )

    def _look_for_idleness(self) -> None:
        growing = self._pending.growing
        is_last = len(self._pending.texts) == 1
        if is_last and not growing.ended and growing.first is None and self._pending.seconds_left < -IDLE_AFTER:
            self._pending.renew()
        else:
            self._idleness.start(IDLE_AFTER / 2)
