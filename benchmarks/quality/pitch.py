"""The fundamental frequency of speech, by normalised autocorrelation."""

from __future__ import annotations

import statistics

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

_FRAME, PITCH_HOP = SAMPLE_RATE // 20, SAMPLE_RATE // 100
"""Samples: 50 ms, of which one begins every 10 ms."""

_LOWEST, _HIGHEST = 60, 400
"""Hz."""

_VOICED = 0.6
"""Correlation with the period before, from which on a frame is voiced."""

_AUDIBLE = 200.0
"""Root mean square of 16-bit samples below which a frame is silence."""

_BEFORE = SAMPLE_RATE
"""Samples: how far before a cut its pitch is looked for."""

_LAST = 10
"""Voiced frames before a cut whose median is its pitch: 100 ms."""


def pitches(samples: Pcm) -> NDArray[np.float64]:
    """Hz of each 10 ms; NaN where nothing is voiced. Shape [frames]."""
    if len(samples) < _FRAME:
        return np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(float), _FRAME)[::PITCH_HOP]
    return np.array([_pitch(frame - frame.mean()) for frame in frames])


def pitch_before(samples: Pcm, place: int) -> float | None:
    """Hz: the median of the last voiced 100 ms before a sample; None if nothing is voiced there."""
    found = pitches(samples[max(0, place - _BEFORE) : place])
    voiced = found[~np.isnan(found)][-_LAST:]
    return statistics.median(voiced.tolist()) if len(voiced) else None


def _pitch(frame: NDArray[np.float64]) -> float:
    if np.sqrt((frame**2).mean()) < _AUDIBLE:
        return np.nan
    power = np.abs(np.fft.rfft(frame, 2 * _FRAME)) ** 2
    correlation = np.fft.irfft(power)[:_FRAME]
    # Fewer samples overlap at longer lags: each lag is judged by what could correlate there.
    squares = np.concatenate(([0.0], np.cumsum(frame**2)))
    lags = np.arange(SAMPLE_RATE // _HIGHEST, SAMPLE_RATE // _LOWEST)
    energy = np.sqrt(squares[_FRAME - lags] * (squares[-1] - squares[lags]))
    normalised = correlation[lags] / np.maximum(energy, 1e-9)
    best = normalised.max()
    if best < _VOICED:
        return np.nan
    # The first peak that is nearly as high: a multiple of the period correlates as well.
    peaks = np.flatnonzero((normalised[1:-1] >= normalised[:-2]) & (normalised[1:-1] >= normalised[2:])) + 1
    high = peaks[normalised[peaks] > 0.85 * best]
    return float(SAMPLE_RATE / lags[high[0] if len(high) else int(normalised.argmax())])
