"""WAV: a RIFF header and samples. Streamed, the sizes in the header are unknown; a whole clip has the exact ones."""

from __future__ import annotations

import io
import struct

from frontend.audio.pcm import PcmEncoder
from shm.audio import SAMPLE_BYTES, Pcm

UNKNOWN_SIZE = 0xFFFFFFFF
"""The value of both size fields in OpenAI's streamed WAV; players read it as "until the stream ends"."""

HEADER_BYTES = 44

_FORMAT_CHUNK_BYTES = 16
_PCM = 1
_MONO = 1


def header(sample_rate: int, data_bytes: int | None = None) -> bytes:
    """RIFF, fmt and data, `HEADER_BYTES` long; samples follow. Both sizes are unknown where `data_bytes` is None."""
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        UNKNOWN_SIZE if data_bytes is None else HEADER_BYTES - 8 + data_bytes,
        b"WAVE",
        b"fmt ",
        _FORMAT_CHUNK_BYTES,
        _PCM,
        _MONO,
        sample_rate,
        sample_rate * SAMPLE_BYTES,
        SAMPLE_BYTES,
        SAMPLE_BYTES * 8,
        b"data",
        UNKNOWN_SIZE if data_bytes is None else data_bytes,
    )


class WavEncoder:
    """A WAV of unknown length, given out as it grows. An `Encoder` (`frontend.audio.encoder`)."""

    def __init__(self, sample_rate: int) -> None:
        self._header = header(sample_rate)
        self._samples = PcmEncoder(sample_rate)

    @property
    def given_out(self) -> float:
        return self._samples.given_out

    def encode(self, pcm: Pcm) -> bytes:
        before, self._header = self._header, b""
        return before + self._samples.encode(pcm)

    def finish(self) -> bytes:
        return self._header

    def close(self) -> None:
        pass


class WholeWavEncoder:
    """A WAV that knows its length: `finish` gives all of it. An `Encoder` (`frontend.audio.encoder`)."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._samples = PcmEncoder(sample_rate)
        self._clip = io.BytesIO(bytes(HEADER_BYTES))
        self._clip.seek(HEADER_BYTES)

    @property
    def given_out(self) -> float:
        return 0.0

    def encode(self, pcm: Pcm) -> bytes:
        self._clip.write(self._samples.encode(pcm))
        return b""

    def finish(self) -> bytes:
        data_bytes = self._clip.tell() - HEADER_BYTES
        self._clip.seek(0)
        self._clip.write(header(self._sample_rate, data_bytes))
        return self._clip.getvalue()

    def close(self) -> None:
        self._clip.close()
