"""Bare samples in the encodings of telephony and of signal processing, which have no place in OpenAI's API."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from frontend.audio.av_encoder import AvEncoder, Codec
from frontend.audio.encoder import Encoder
from shm.audio import Pcm

_FULL_SCALE = np.float32(1 / 32_768)


class RawFormat(StrEnum):
    """Encodings of bare samples other than 16-bit integers (`AudioFormat.PCM`)."""

    MULAW = "mulaw"
    """ITU-T G.711, 8 bits a sample."""
    ALAW = "alaw"
    """ITU-T G.711, 8 bits a sample."""
    FLOAT32 = "pcm_f32le"
    """Little-endian, from -1 to 1."""


SAMPLE_SIZES = {RawFormat.MULAW: 1, RawFormat.ALAW: 1, RawFormat.FLOAT32: 4}
"""Bytes of a sample."""


class FloatEncoder:
    """Encoder of `FLOAT32`. Implements `frontend.audio.encoder.Encoder`."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._samples = 0

    @property
    def given_out(self) -> float:
        return self._samples / self._sample_rate

    def encode(self, pcm: Pcm) -> bytes:
        self._samples += len(pcm)
        return (pcm * _FULL_SCALE).astype("<f4").tobytes()

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass


def make_raw_encoder(raw: RawFormat, sample_rate: int) -> Encoder:
    """An encoder of samples at `sample_rate`."""
    if raw is RawFormat.FLOAT32:
        return FloatEncoder(sample_rate)
    return AvEncoder(Codec(raw.value, f"pcm_{raw.value}", "s16"), sample_rate, whole=False)
