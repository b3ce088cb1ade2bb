"""Bare samples in the encodings of telephony and of signal processing, which have no place in OpenAI's API."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from frontend.audio.av_encoder import AvEncoder, Codec
from frontend.audio.encoder import Encoder
from frontend.audio.pcm import PcmEncoder
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


def float_bytes(pcm: Pcm) -> bytes:
    """The samples as `FLOAT32`."""
    return (pcm * _FULL_SCALE).astype("<f4").tobytes()


def make_raw_encoder(raw: RawFormat, sample_rate: int) -> Encoder:
    """An encoder of samples at `sample_rate`."""
    if raw is RawFormat.FLOAT32:
        return PcmEncoder(sample_rate, float_bytes)
    return AvEncoder(Codec(raw.value, f"pcm_{raw.value}", "s16"), sample_rate, whole=False)
