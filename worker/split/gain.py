"""Changes of the level of a segment's sound, and the limiter that keeps them from clipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.split.segments.windows import FRAME_SAMPLES

_LIMIT = 0.7
"""Amplitude (-3.1 dBFS) to which a changed level is lowered around a peak; the curve between samples rises up to 2 dB
above them in a sibilant."""

_AHEAD = 48
"""Samples (2 ms) before a peak in which the level is lowered, and after which it is back."""

CEILING = 0.8
"""Amplitude (-1.9 dBFS) that no sample passes at a window's edges either, where the limiter sees too little."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A change of the level over a segment."""

    factors: NDArray[np.float32] | None
    """[frames at 80 Hz + 1]; factors between two frames' beginnings lie on straight lines. None: 1 everywhere."""
    level: float = 1.0
    """Factor on all of them: the voice's."""

    def applied(self, audio: NDArray[np.floating[Any]], begin: int) -> NDArray[np.floating[Any]]:
        """Audio, [samples], whose first sample is that of frame `begin`."""
        factors: Any = self.level
        if self.factors is not None:
            places = begin + np.arange(len(audio)) / FRAME_SAMPLES
            factors = factors * np.interp(places, np.arange(len(self.factors)), self.factors)
        elif factors == 1:
            return audio
        louder = audio * factors
        return _limited(louder, louder != audio).astype(audio.dtype)


def _limited(samples: NDArray[np.floating[Any]], changed: NDArray[np.bool_]) -> NDArray[np.floating[Any]]:
    """Samples whose level is lowered around peaks among those that were changed."""
    height = np.abs(samples)
    over = changed & (height > _LIMIT)
    if not over.any():
        return samples
    wanted = np.where(over, _LIMIT / np.maximum(height, _LIMIT), 1.0)
    width = 2 * _AHEAD + 1
    lowest = np.lib.stride_tricks.sliding_window_view(np.pad(wanted, 2 * _AHEAD, constant_values=1.0), width).min(-1)
    lower = samples * np.lib.stride_tricks.sliding_window_view(lowest, width).mean(-1)
    room = CEILING - _LIMIT
    bent = np.sign(lower) * (_LIMIT + room * np.tanh((np.abs(lower) - _LIMIT) / room))
    limited: NDArray[np.floating[Any]] = np.where(over & (np.abs(lower) > _LIMIT), bent, lower)
    return limited
