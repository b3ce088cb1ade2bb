"""Levels: loudness of speech, and noise in its pauses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

_FRAME = SAMPLE_RATE // 50
"""Samples per frame: 20 ms."""

_SPEECH = 30.0
"""Range in dB below the loudest frame within which a frame counts as speech."""

_PAUSE = 25.0
"""Level in dB (an amplitude of 18 in 16-bit samples) below which a frame of the reference counts as a pause."""


def frame_levels(samples: Pcm) -> NDArray[np.float64]:
    """Level of each 20 ms frame in dB relative to an amplitude of 1; shape [frames], at least one frame."""
    whole = np.pad(samples.astype(float), (0, -len(samples) % _FRAME or (0 if len(samples) else _FRAME)))
    return np.asarray(10 * np.log10(np.maximum((whole.reshape(-1, _FRAME) ** 2).mean(axis=1), 1.0)))


def speech_level(samples: Pcm) -> float:
    """Mean power of the speech frames, in dB relative to an amplitude of 1. Silence has 0, full scale 90."""
    levels = frame_levels(samples)
    speech = levels[levels >= levels.max() - _SPEECH]
    return float(10 * np.log10((10 ** (speech / 10)).mean()))


def pause_noise(reference: Pcm, other: Pcm) -> float | None:
    """Mean difference in dB between `other` and `reference` during the reference's pauses, sample for sample; positive
    if `other` is louder. None if the reference has no pause, or the lengths differ."""
    if len(reference) != len(other):
        return None
    ours, theirs = frame_levels(reference), frame_levels(other)
    pauses = ours < _PAUSE
    return float((theirs - ours)[pauses].mean()) if pauses.any() else None
