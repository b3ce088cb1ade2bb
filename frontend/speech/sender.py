"""Sends a stream's samples to the client: cut into chunks, encoded, framed, each flushed at once.

The place that an answer has reached is kept before each of its parts leaves (`frontend/serving/record.py`). If the
front is killed, its successor makes the answer again from the beginning, leaves out what was sent, and continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from aiohttp import web

from frontend.audio.encoders import Seam, chunks
from frontend.audio.encoding import Encoding
from frontend.contract import in_flight
from frontend.contract.progress import Place, Progress, encode_place
from frontend.monitoring.listening import Listening
from frontend.serving.connections import record_of
from frontend.serving.errors import ErrorDetail
from frontend.serving.record import CONTINUES
from frontend.serving.sending import FRAMED, bound_send_buffer, reset_on_close, taken
from frontend.speech.framing import Framing
from shm.audio import SAMPLE_RATE, Pcm
from shm.killpoint import killpoint
from shm.timing import SentenceTiming, WordTiming

WHOLE_PIECE = 1 << 16
"""Bytes of an answer with a known length that are sent at a time."""


TOGETHER = 5
"""Chunks of one piece that are recorded and written at once. The first of an answer goes alone."""


class AudioResponse(web.StreamResponse):
    """A response whose header is sent in one write with the first chunk, as in aiohttp's own `Response`."""

    _send_headers_immediately = False
    rest = b""
    """Bytes that leave with the response's end."""

    async def write_eof(self, data: bytes = b"") -> None:
        await super().write_eof(data or self.rest)


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
        progress: Progress | None = None,
        begun: Place | None = None,
        seam: Seam = (0, 0),
    ) -> None:
        """
        Args:
            engine_rate: samples per second of the pieces.
            after: samples at 24 kHz that aren't sent, because the client has them.
            progress: of the text; None: the answer can't be continued.
            begun: what was decided for the answer.
            seam: at which `encoding` begins.
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
        self._encoded, self._audio = seam
        """Samples that were given to the encoder, and bytes that were made, sent or not."""
        self._to_leave_out = round(after * engine_rate / SAMPLE_RATE) + self._encoded
        self._left_out = 0.0
        self._record = record_of(request) if progress is not None and begun is not None else None
        self._progress = progress or Progress()
        self._begun = begun or Place()
        self._had = self._progress.left or Place()
        """The part of the answer that the client had from a front that was killed."""
        self._words = self._sentences = 0
        """Words and sentences that were made, sent or not."""
        self._ended = False
        self._unsent: list[bytes] = []
        self._has_audio = False
        """True if some of what is unsent is audio."""
        self._known = self._had.samples
        """Samples to come that were given to a killed front's encoder, about: they aren't sent again."""
        if self._progress.left:
            response[CONTINUES] = True
            framing.resume(self._had.framing)

    async def prime(self, seconds: float) -> None:
        """Send silence at once, ahead of audio that isn't made yet; word times shift by its length."""
        silence = np.zeros(round(seconds * self._rate), np.int16)
        self._primed = len(silence) / self._rate
        self._begun.primed = seconds
        await self.send_piece(silence)

    async def send_piece(self, piece: Pcm, words: Sequence[WordTiming] = ()) -> None:
        """Encode and write a piece, preceded by the times of words that sound in it or soon after.

        Waits while the client reads too slowly.
        """
        # The client had the words that begin in the audio that it has: an event with words precedes their audio.
        later = [word.later(self._primed) for word in words]
        self._tell_words([word for word in later if round(word.start * SAMPLE_RATE) >= self._after])
        had = min(self._to_leave_out, len(piece))
        self._to_leave_out -= had
        self._left_out += had / self._rate
        self._known -= len(piece)
        # Nobody waits for a chunk of what was sent.
        for chunk in [piece] if self._known > 0 and not had else chunks(piece[had:], self._chunk_ms, self._rate):
            self._listening.encoded(chunk)
            self._give(await self._encoding.encode(chunk))
            self._encoded += len(chunk)
            self._listening.ready()
            if len(self._unsent) >= TOGETHER or not self._response.prepared:
                await self._send()
        await self._send()

    async def begin(self, sentences: Sequence[SentenceTiming], real_time_factor: float | None) -> None:
        """Tell of sentences that begin in the next piece."""
        for sentence in sentences:
            start = sentence.start / self._rate + self._primed
            later = replace(sentence, start=round(start * SAMPLE_RATE))
            if later.start >= self._after:
                self._sentences += 1
                if self._sentences > self._had.sentences:
                    self._add(self._framing.sentence(later, real_time_factor))
        await self._send()

    async def finish(self, input_tokens: int, words: Sequence[WordTiming], *, speakable: bool) -> None:
        """Send the encoder's remaining bytes, and mark the audio as whole.

        Args:
            speakable: the text has sound; the silence that stands for another text isn't counted as usage.
        """
        self._tell_words([word.later(self._primed) for word in words])
        self._give(await self._encoding.finish())
        samples = round((self._listening.seconds + self._left_out) * SAMPLE_RATE) if speakable else 0
        self._ended = True
        if not self._had.ended:
            self._add(self._framing.done(input_tokens, samples))
        await self._send()

    async def fail(self, detail: ErrorDetail) -> None:
        """Report the failure, if the framing can; the encoder isn't ended, because its end would make a part look
        whole."""
        self._add(self._framing.error(detail))
        await self._send()

    async def send_whole(self, body: bytes) -> None:
        """Send a body whose length is known. Its last byte leaves with the end of the answer, which is noted first: a
        client that has all of it may send its next request before the handler returns."""
        self._response.content_length = len(body)
        last = max(len(body) - 1, self._had.audio)
        self._response.rest = body[last:]
        for at in range(self._had.audio, last, WHOLE_PIECE):
            piece = body[at : min(at + WHOLE_PIECE, last)]
            self._audio = at + len(piece)
            self._add(piece)
            await self._send()

    def _tell_words(self, words: Sequence[WordTiming]) -> None:
        had = min(max(self._had.words - self._words, 0), len(words))
        self._words += len(words)
        if later := words[had:]:
            self._add(self._framing.words(later))

    def _give(self, audio: bytes) -> None:
        had = min(max(self._had.audio - self._audio, 0), len(audio))
        self._audio += len(audio)
        if later := audio[had:]:
            self._add(self._framing.audio(later, self._left_out + self._encoding.given_out))
        self._has_audio |= bool(audio)

    def _add(self, data: bytes) -> None:
        if data:
            self._unsent.append(data)

    async def _send(self) -> None:
        """Write what was added, as one unit of the record."""
        if self._unsent:
            unsent, self._unsent = self._unsent, []
            with self._record.unit(self._place(), self._encoded) if self._record else nullcontext():
                if not self._response.prepared:
                    await self._begin()
                for data in unsent:
                    await self._response.write(data)
            if self._progress.left:
                self._progress.goes_on()
            await taken(self._request)
        elif self._encoded:
            self._progress.encoded(self._encoded)
        if self._has_audio:
            killpoint("chunk")
            self._has_audio = False
            self._listening.given(self._encoding.given_out)

    async def _begin(self) -> None:
        killpoint("before-headers")
        await self._response.prepare(self._request)
        if self._response.content_length is None:
            reset_on_close(self._request, True)
            bound_send_buffer(self._request, self._encoding.bytes_per_second * FRAMED)
        if self._record is None:
            in_flight.current.get().audio_left()
        killpoint("after-headers")
        self._listening.begun()

    def _place(self) -> bytes:
        """The place at which the answer is once what is being written was sent; empty: it can't be continued."""
        progress, place = self._progress, self._begun
        if progress.lost:
            return b""
        words, sentences = self._framing.held
        place.audio, place.ended = self._audio, self._ended
        place.words, place.sentences = self._words - words, self._sentences - sentences
        place.framing, place.heard, place.profile = self._framing.place, progress.heard, progress.profile
        place.seam = self._encoding.seam
        if clock := progress.clock:
            place.samples, place.since = clock()
        return encode_place(place)
