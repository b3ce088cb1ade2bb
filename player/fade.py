"""Fades and volume: samples that end or begin without a click."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

FADE = SAMPLE_RATE * 20 // 1000
"""Samples of the fade before another text or sentence: 20 ms."""

SHORT_FADE = SAMPLE_RATE * 8 // 1000
"""Samples of the fade-in after a pause: 8 ms."""


def faded_out(samples: Pcm) -> Pcm:
    """The samples with a volume that falls to 0 at their end."""
    return _scaled(samples, np.linspace(1, 0, len(samples), dtype=np.float32))


def faded_in(samples: Pcm, risen: int) -> Pcm:
    """Samples after the first `risen` samples of a fade-in over `SHORT_FADE`; those after its end are unchanged."""
    ramp = (risen + np.arange(len(samples), dtype=np.float32)) / SHORT_FADE
    return _scaled(samples, np.minimum(ramp, 1))


def with_volume(samples: Pcm, volume: float) -> Pcm:
    """The samples at that volume, 0 to 1; at 1 they are unchanged."""
    return samples if volume == 1 else _scaled(samples, np.full(len(samples), volume, np.float32))


def _scaled(samples: Pcm, factors: NDArray[np.float32]) -> Pcm:
    scaled: Pcm = np.rint(samples * factors).astype(np.int16)
    return scaled
