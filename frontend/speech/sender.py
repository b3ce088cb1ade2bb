"""Sends a stream's samples to the client: cut into chunks, encoded, framed, each flushed at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from aiohttp import web

from frontend.audio.encoders import chunks
from frontend.audio.encoding import Encoding
from frontend.contract import in_flight
from frontend.monitoring.listening import Listening
from frontend.serving.errors import ErrorDetail
from frontend.serving.sending import FRAMED, bound_send_buffer, reset_on_close, taken
from frontend.speech.framing import Framing
from shm.audio import SAMPLE_RATE, Pcm
from shm.killpoint import killpoint
from shm.timing import SentenceTiming, WordTiming


class AudioResponse(web.StreamResponse):
    """A response whose header is sent in one write with the first chunk, as in aiohttp's own `Response`."""

    _send_headers_immediately = False


class Sender:
    """Sends pieces while more are being made. The response begins with the encoder's first bytes."""

    def __init__(
        self,
        request: web.Request,
        response: AudioResponse,
        encoding: Encoding,
        listening: Listening,
        chunk_ms: int,
        framing: Framing,
        engine_rate: int,
        after: int = 0,
    ) -> None:
        """
        Args:
            engine_rate: samples per second of the pieces.
            after: samples at 24 kHz that aren't sent, because the client has them.
        """
        self._rate = engine_rate
        self._request = request
        self._response = response
        self._encoding = encoding
        self._listening = listening
        self._chunk_ms = chunk_ms
        self._framing = framing
        self._primed = 0.0
        self._after = after
        self._to_leave_out = round(after * engine_rate / SAMPLE_RATE)
        self._left_out = 0.0

    async def prime(self, seconds: float) -> None:
        """Send silence at once, ahead of audio that isn't made yet; word times shift by its length."""
        silence = np.zeros(round(seconds * self._rate), np.int16)
        self._primed = len(silence) / self._rate
        await self.send_piece(silence)

    async def send_piece(self, piece: Pcm, words: Sequence[WordTiming] = ()) -> None:
        """Encode and write a piece, preceded by the times of words that sound in it or soon after.

        Waits while the client reads too slowly.
        """
        # The client had the words that begin in the audio that it has: an event with words precedes their audio.
        later = [word.later(self._primed) for word in words]
        if later := [word for word in later if round(word.start * SAMPLE_RATE) >= self._after]:
            await self._write(self._framing.words(later))
        had = min(self._to_leave_out, len(piece))
        self._to_leave_out -= had
        self._left_out += had / self._rate
        for chunk in chunks(piece[had:], self._chunk_ms, self._rate):
            self._listening.encoded(chunk)
            await self._give(await self._encoding.encode(chunk))

    async def begin(self, sentences: Sequence[SentenceTiming], real_time_factor: float | None) -> None:
        """Tell of sentences that begin in the next piece."""
        for sentence in sentences:
            start = sentence.start / self._rate + self._primed
            later = replace(sentence, start=round(start * SAMPLE_RATE))
            if later.start >= self._after:
                await self._write(self._framing.sentence(later, real_time_factor))

    async def finish(self, input_tokens: int, words: Sequence[WordTiming], *, speakable: bool) -> None:
        """Send the encoder's remaining bytes, and mark the audio as whole.

        Args:
            speakable: the text has sound; the silence that stands for another text isn't counted as usage.
        """
        if words:
            await self._write(self._framing.words([word.later(self._primed) for word in words]))
        await self._give(await self._encoding.finish())
        samples = round((self._listening.seconds + self._left_out) * SAMPLE_RATE) if speakable else 0
        await self._write(self._framing.done(input_tokens, samples))

    async def fail(self, detail: ErrorDetail) -> None:
        """Report the failure, if the framing can; the encoder isn't ended, because its end would make a part look
        whole."""
        await self._write(self._framing.error(detail))

    async def _give(self, audio: bytes) -> None:
        if audio:
            await self._write(self._framing.audio(audio, self._left_out + self._encoding.given_out))
            killpoint("chunk")
            self._listening.given(self._encoding.given_out)

    async def _write(self, data: bytes) -> None:
        if not data:
            return
        if not self._response.prepared:
            killpoint("before-headers")
            await self._response.prepare(self._request)
            reset_on_close(self._request, True)
            in_flight.current.get().audio_left()
            bound_send_buffer(self._request, self._encoding.bytes_per_second * FRAMED)
            killpoint("after-headers")
            self._listening.begun()
        await self._response.write(data)
        await taken(self._request)
