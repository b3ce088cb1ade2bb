"""PCM of engines: made of their floats, and compared by waveform."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.audio import Pcm
from worker.engine import EngineError

FULL_SCALE = 32_767


def to_pcm(audio: NDArray[np.floating[Any]]) -> Pcm:
    """Floats, shape [n] with full scale 1.0, converted to int16. Louder samples are clipped, never wrapped round.

    Raises:
        EngineError: there is no sample, or a sample isn't a finite number.
    """
    if not len(audio):
        raise EngineError("the engine made no audio of this")
    if not np.isfinite(audio).all():
        raise EngineError("the engine made samples that are no numbers")
    return np.rint(np.clip(audio.astype(np.float32), -1, 1) * FULL_SCALE).astype(np.int16)


def snr(reference: Pcm, other: Pcm) -> float:
    """Signal-to-noise ratio in dB of two renderings of the same length, shape [n]."""
    signal, error = reference.astype(float), reference.astype(float) - other
    return float(10 * np.log10(max((signal**2).sum(), 1e-9) / max((error**2).sum(), 1e-9)))
