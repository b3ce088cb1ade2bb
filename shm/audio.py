"""PCM format inside the server: mono, signed 16-bit little-endian, 24 kHz (Kokoro's own rate)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the supervisor imports this file and must stay without numpy
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_RATE = 24_000
"""Samples per second."""

SAMPLE_BYTES = 2
"""Bytes per sample."""

AUDIBLE = 64
"""Amplitude (-54 dBFS) above which a sample counts as sound; an engine's lead-in and its pauses stay at or below it."""

Pcm: TypeAlias = "NDArray[np.int16]"
"""Samples, shape [n]."""
