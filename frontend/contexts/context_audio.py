"""A context's audio, one stream of its format, encoded chunk by chunk and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np

from frontend.audio.encoders import Resampler, chunks
from frontend.audio.formats import OutputFormat
from frontend.contexts.events import Spoken
from frontend.contexts.journal import ContextNotes
from frontend.contract.errors import Interrupted
from frontend.contract.stages import Stages
from frontend.monitoring.listening import Listening
from frontend.serving.services import Services
from shm.audio import Pcm
from shm.timing import WordTiming

SILENCE_SECONDS = 0.1
"""Silence that is given for a text that has no sound."""


class ContextAudio:
    """The encoder of all streams of a context, and the figures of its listener.

    Another engine may make a later stream: its samples are brought to the first stream's rate.
    """

    def __init__(
        self,
        services: Services,
        output: OutputFormat,
        sample_rate: int,
        started: float,
        stages: Stages,
        notes: ContextNotes,
    ) -> None:
        """Arguments are those of `begins`, for the first stream. `notes`: the context's."""
        self._rate = sample_rate
        self._resampler: Resampler | None = None
        self.sounded = False
        """True once audio was given."""
        self._before = notes.settled.seconds
        """Seconds of audio that were told by a killed front, and that this encoder hasn't."""
        self.is_free = (
            output.format.codec is None and output.format.samples != "wav" and output.sample_rate == sample_rate
        )
        """True if what follows doesn't depend on what came before."""
        self._chunk_ms = services.settings.chunk_ms
        self._encoding = services.encoders.open(output, sample_rate, whole=False, number=notes.encoder)
        heard = not notes.had_audio
        self._listening = Listening(services.metrics, started, stages, sample_rate, heard=heard)
        self._closed = False

    def begins(self, sample_rate: int, started: float, stages: Stages) -> None:
        """Take a stream, and time its first audio.

        Args:
            sample_rate: samples per second of the stream's engine.
            started: `time.monotonic()` when the stream was asked for.
            stages: of the stream.
        """
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

    def close(self) -> None:
        """Close the encoder; calls that are under way end with `Interrupted`."""
        self._closed = True
        self._encoding.close()

    def _check_open(self) -> None:
        """Raise `Interrupted` if the context was closed meanwhile, and its encoder with it: a closed codec crashes."""
        if self._closed:
            raise Interrupted("the context was closed")
