"""Another sample rate in front of an encoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frontend.audio.encoder import Encoder
from shm.audio import Pcm


class Resampler:
    """Brings samples to another rate.

    It works in float32, where soxr's result doesn't depend on how the samples are cut into calls; in int16 it dithers,
    and does. soxr holds back up to 40 ms (80 ms for the lowest rates), which come with `rest`.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        import soxr  # not before somebody asks for another rate

        self._stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="HQ")

    def resampled(self, pcm: Pcm) -> Pcm:
        return self._given(pcm, last=False)

    def rest(self) -> Pcm:
        return self._given(np.zeros(0, np.int16), last=True)

    def _given(self, pcm: Pcm, *, last: bool) -> Pcm:
        samples: NDArray[np.float32] = self._stream.resample_chunk(pcm.astype(np.float32), last=last)
        return np.clip(np.rint(samples), -32_768, 32_767).astype(np.int16)


class ResamplingEncoder:
    """Brings an engine's samples to the rate that `inner` was made for. An `Encoder` (`frontend.audio.encoder`)."""

    def __init__(self, inner: Encoder, engine_rate: int, sample_rate: int) -> None:
        self._inner = inner
        self._resampler = Resampler(engine_rate, sample_rate)

    @property
    def given_out(self) -> float:
        return self._inner.given_out

    def encode(self, pcm: Pcm) -> bytes:
        return self._inner.encode(self._resampler.resampled(pcm))

    def finish(self) -> bytes:
        return self._inner.encode(self._resampler.rest()) + self._inner.finish()

    def close(self) -> None:
        self._inner.close()
