"""Bare samples, mono: signed 16-bit little-endian, or in an encoding that the caller gives."""

from __future__ import annotations

from collections.abc import Callable

from shm.audio import Pcm


def int16_bytes(pcm: Pcm) -> bytes:
    """The samples as signed 16-bit little-endian integers."""
    return pcm.astype("<i2", copy=False).tobytes()


class PcmEncoder:
    """The encoder of raw PCM (`frontend.audio.encoder.Encoder`)."""

    def __init__(self, sample_rate: int, encode: Callable[[Pcm], bytes] = int16_bytes) -> None:
        """`encode` gives the bytes of samples."""
        self._sample_rate = sample_rate
        self._encode = encode
        self._samples = 0

    @property
    def given_out(self) -> float:
        return self._samples / self._sample_rate

    def encode(self, pcm: Pcm) -> bytes:
        self._samples += len(pcm)
        return self._encode(pcm)

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass
