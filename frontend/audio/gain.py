"""Amplification of samples by a factor that a request names."""

from __future__ import annotations

import numpy as np

from shm.audio import Pcm


def amplified(samples: Pcm, factor: float) -> Pcm:
    """The samples times the factor, cut off at the largest value that 16 bits hold.

    >>> amplified(np.array([100, -20_000], np.int16), 2.0)
    array([   200, -32768], dtype=int16)
    """
    if factor == 1.0:
        return samples
    louder: Pcm = np.clip(np.rint(samples * np.float32(factor)), -32_768, 32_767).astype(np.int16)
    return louder
