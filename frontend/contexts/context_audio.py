"""A context's audio: one stream of its format, encoded chunk by chunk and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np

from frontend.audio.formats import OutputFormat
from frontend.audio.pieces import chunks
from frontend.contexts.events import Spoken
from frontend.contexts.services import Services
from frontend.contract.errors import Interrupted
from frontend.contract.stages import Stages
from frontend.contract.word_timing import WordTiming
from frontend.monitoring.listening import Listening
from shm.audio import SAMPLE_RATE, Pcm

SILENCE = SAMPLE_RATE // 10
"""Samples of silence that are given for a text that has no sound."""


class ContextAudio:
    """The encoder of all streams of a context, and the figures of its listener."""

    def __init__(self, services: Services, output: OutputFormat, started: float, stages: Stages) -> None:
        """Arguments are those of `begins`, for the first stream."""
        self.sounded = False
        """True once audio was given."""
        self._chunk_ms = services.settings.chunk_ms
        self._encoding = services.encoders.open(output, whole=False)
        self._listening = Listening(services.metrics, started, stages)
        self._closed = False

    def begins(self, started: float, stages: Stages) -> None:
        """Time the first audio of a stream.

        Args:
            started: `time.monotonic()` when the stream was asked for.
            stages: of the stream.
        """
        self._listening.begins(started, stages)

    @property
    def seconds(self) -> float:
        """Duration of all samples that were encoded so far."""
        return self._listening.samples / SAMPLE_RATE

    async def encode(self, piece: Pcm, words: Sequence[WordTiming] = ()) -> AsyncIterator[Spoken]:
        """Encode a piece; its audio, the first of which has the words.

        Raises:
            Interrupted: the audio was closed.
        """
        for chunk in chunks(piece, self._chunk_ms):
            self._check_open()
            self._listening.encoded(chunk)
            audio = await self._encoding.encode(chunk)
            self._check_open()
            if audio or words:
                yield self.given(audio, words)
                words = ()
        if words:
            yield self.given(b"", words)

    async def finish(self) -> AsyncIterator[Spoken]:
        """End the encoder's stream; its remaining audio, after a silence if the text had no sound.

        Raises:
            Interrupted: the audio was closed.
        """
        if not self._listening.samples:
            # Some clients take a text without any audio for a failure, and ask again.
            async for event in self.encode(np.zeros(SILENCE, np.int16)):
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
        return Spoken(audio, seconds, words)

    def close(self) -> None:
        """Close the encoder; calls that are under way end with `Interrupted`."""
        self._closed = True
        self._encoding.close()

    def _check_open(self) -> None:
        """Raise `Interrupted` if the context was closed meanwhile, and its encoder with it: a closed codec crashes."""
        if self._closed:
            raise Interrupted("the context was closed")
