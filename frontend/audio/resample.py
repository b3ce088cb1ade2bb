"""Another sample rate in front of an encoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frontend.audio.encoder import Encoder
from shm.audio import SAMPLE_RATE, Pcm


class ResamplingEncoder:
    """Brings 24 kHz to the rate that `inner` was made for. An `Encoder` (`frontend.audio.encoder`).

    It works in float32, where soxr's result doesn't depend on how the samples are cut into calls; in int16 it dithers,
    and does. soxr holds back up to 40 ms (80 ms for the lowest rates), which come with `finish`.
    """

    def __init__(self, inner: Encoder, sample_rate: int) -> None:
        import soxr  # not before somebody asks for another rate

        self._inner = inner
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, sample_rate, 1, dtype="float32", quality="HQ")

    @property
    def given_out(self) -> float:
        return self._inner.given_out

    def encode(self, pcm: Pcm) -> bytes:
        return self._inner.encode(self._resampled(pcm, last=False))

    def finish(self) -> bytes:
        tail = self._resampled(np.zeros(0, np.int16), last=True)
        return self._inner.encode(tail) + self._inner.finish()

    def close(self) -> None:
        self._inner.close()

    def _resampled(self, pcm: Pcm, *, last: bool) -> Pcm:
        samples: NDArray[np.float32] = self._resampler.resample_chunk(pcm.astype(np.float32), last=last)
        return np.clip(np.rint(samples), -32_768, 32_767).astype(np.int16)
