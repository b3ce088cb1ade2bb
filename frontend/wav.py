"""The RIFF header of a WAV whose length isn't known yet."""

from __future__ import annotations

import struct

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

UNKNOWN_SIZE = 0xFFFFFFFF
"""What OpenAI's streamed WAV carries in both size fields; players take it for "until the stream ends"."""

_PCM = 1
_MONO = 1

STREAMING_HEADER = struct.pack(
    "<4sI4s4sIHHIIHH4sI",
    b"RIFF",
    UNKNOWN_SIZE,
    b"WAVE",
    b"fmt ",
    16,
    _PCM,
    _MONO,
    SAMPLE_RATE,
    SAMPLE_RATE * SAMPLE_BYTES,
    SAMPLE_BYTES,
    SAMPLE_BYTES * 8,
    b"data",
    UNKNOWN_SIZE,
)
"""44 bytes: RIFF, fmt and data, both sizes unknown; samples of `shm.audio`'s format follow."""
