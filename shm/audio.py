"""The one PCM format inside the server: mono, signed 16-bit little-endian, 24 kHz (Kokoro's own rate)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 24_000
"""Samples per second."""

SAMPLE_BYTES = 2
"""Bytes per sample."""

Pcm = NDArray[np.int16]
"""Samples, shape [n]."""
