"""Bare samples: signed 16-bit little-endian, mono."""

from __future__ import annotations

from shm.audio import Pcm


class PcmEncoder:
    """The encoder of raw PCM (`frontend.audio.encoder.Encoder`): samples as they are."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._samples = 0

    @property
    def given_out(self) -> float:
        return self._samples / self._sample_rate

    def encode(self, pcm: Pcm) -> bytes:
        self._samples += len(pcm)
        return pcm.astype("<i2", copy=False).tobytes()

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass
