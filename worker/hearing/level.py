"""How loud speech is, and how quiet its pauses are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

_FRAME = SAMPLE_RATE // 50
"""20 ms."""

_SPEECH = 30.0
"""dB below the loudest frame within which a frame is speech."""

_PAUSE = 25.0
"""dB (18 of 16-bit samples) below which a frame of speech that is whole is a pause."""


def frame_levels(samples: Pcm) -> NDArray[np.float64]:
    """dB over one bit of each 20 ms; [frames], at least one."""
    whole = np.pad(samples.astype(float), (0, -len(samples) % _FRAME or (0 if len(samples) else _FRAME)))
    return np.asarray(10 * np.log10(np.maximum((whole.reshape(-1, _FRAME) ** 2).mean(axis=1), 1.0)))


def speech_level(samples: Pcm) -> float:
    """dB over one bit: the mean power of the frames that are speech. 0 for silence; full scale is 90."""
    levels = frame_levels(samples)
    speech = levels[levels >= levels.max() - _SPEECH]
    return float(10 * np.log10((10 ** (speech / 10)).mean()))


def pause_noise(reference: Pcm, other: Pcm) -> float | None:
    """How many dB louder the other is where the reference pauses, sample for sample; None if it doesn't pause, or if
    they are of different lengths."""
    if len(reference) != len(other):
        return None
    ours, theirs = frame_levels(reference), frame_levels(other)
    pauses = ours < _PAUSE
    return float((theirs - ours)[pauses].mean()) if pauses.any() else None
