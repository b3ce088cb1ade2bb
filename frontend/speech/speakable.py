"""A stream's pieces for a response; a text without sound gets a short silence in their place.

Punctuation, a table's rule or an emoji alone is ordinary output of language models. An error for such a text ends or
hangs clients that send each sentence by itself (Home Assistant, LiveKit, Pipecat), so it is answered like any other
text.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np

from frontend.contract.errors import NothingToSpeak
from frontend.contract.speaker import SpeechStream
from shm.audio import Pcm

# Amplification of samples by a factor that a request names.


def amplified(samples: Pcm, factor: float) -> Pcm:
    """The samples times the factor, cut off at the largest value that 16 bits hold.

    >>> amplified(np.array([100, -20_000], np.int16), 2.0)
    array([   200, -32768], dtype=int16)
    """
    if factor == 1.0:
        return samples
    louder: Pcm = np.clip(np.rint(samples * np.float32(factor)), -32_768, 32_767).astype(np.int16)
    return louder


HEADER = "X-Speakable"
"""Header with the value `none` if the text has nothing that can be spoken."""

SILENCE_SECONDS = 0.1


class Pieces:
    """A stream's pieces; iterated once, like a `SpeechStream`."""

    def __init__(self, stream: SpeechStream, volume: float = 1.0) -> None:
        """Args:
        volume: factor on the samples.
        """
        self.speakable = True
        """True until the piece of silence is given."""
        self._volume = volume
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        given = False
        try:
            async for piece in self._stream:
                given = True
                yield amplified(piece, self._volume)
        except NothingToSpeak:
            if given:
                raise
        if not given:
            self.speakable = False
            yield np.zeros(round(SILENCE_SECONDS * self._stream.engine.sample_rate), np.int16)
