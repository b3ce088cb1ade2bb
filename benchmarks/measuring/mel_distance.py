"""Distance of two renderings by mel spectrum: nearer to what is heard than the waveform's."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

FRAME, HOP = 1024, 256
FLOOR_DB = -80.0
"""Level in dB, relative to the loudest part of a spectrum, below which nothing is compared."""

MELS = 80
"""Number of mel bands, the same as in Kokoro's training (`config.json`: n_mels)."""


def log_mel_distance(reference: Pcm, other: Pcm) -> float:
    """Log-spectral distance in dB over 80 mel bands (the root mean square difference over bands, averaged over time),
    which ignores high-frequency differences that the ear can't hear.

    Renderings of different lengths are compared along the alignment that brings them nearest (dynamic time warping, as
    for mel-cepstral distortion); the result is lower than a frame-by-frame comparison's.
    """
    spectra = (_spectrum(samples) @ _mel_bands() for samples in (reference, other))
    decibels = [20 * np.log10(np.maximum(spectrum, 1e-9)) for spectrum in spectra]
    floor = decibels[0].max() + FLOOR_DB
    first, second = (np.maximum(each, floor) for each in decibels)
    if len(first) != len(second):
        return _aligned_distance(first, second)
    return float(np.sqrt(((first - second) ** 2).mean(axis=1)).mean())


def _aligned_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Mean distance of frames along the alignment with the least sum; its steps go one frame on in either rendering, or
    in both."""
    squares = (first**2).mean(axis=1)[:, None] + (second**2).mean(axis=1) - 2 * first @ second.T / first.shape[1]
    distances = np.sqrt(np.maximum(squares, 0))
    rows, columns = distances.shape
    # Each cell holds the sum and the number of frames on its best path. The cells of a diagonal are independent, so a
    # diagonal is computed at a time.
    sums, steps = np.full((rows + 1, columns + 1), np.inf), np.zeros((rows + 1, columns + 1))
    sums[0, 0] = 0.0
    for diagonal in range(rows + columns - 1):
        i = np.arange(max(0, diagonal - columns + 1), min(rows, diagonal + 1))
        j = diagonal - i
        ways = np.stack([sums[i, j], sums[i, j + 1], sums[i + 1, j]])
        best = ways.argmin(axis=0)
        sums[i + 1, j + 1] = ways[best, np.arange(len(i))] + distances[i, j]
        steps[i + 1, j + 1] = np.stack([steps[i, j], steps[i, j + 1], steps[i + 1, j]])[best, np.arange(len(i))] + 1
    return float(sums[rows, columns] / steps[rows, columns])


def _spectrum(samples: Pcm) -> NDArray[np.float64]:
    """Magnitudes, [frames, FRAME / 2 + 1]; a rendering shorter than a frame is padded with silence to one."""
    padded = np.pad(samples.astype(float), (0, max(0, FRAME - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    magnitudes: NDArray[np.float64] = np.abs(np.fft.rfft(frames * np.hanning(FRAME)))
    return magnitudes


@cache
def _mel_bands() -> NDArray[np.float64]:
    """Mel bands: triangles of equal width in mel (O'Shaughnessy's formula), each with sum 1; [FRAME / 2 + 1, MELS]."""
    frequencies = np.fft.rfftfreq(FRAME, 1 / SAMPLE_RATE)
    mels = 2595 * np.log10(1 + frequencies / 700)
    centres = np.linspace(0, mels[-1], MELS + 2)
    rising = (mels[:, None] - centres[:-2]) / np.diff(centres)[:-1]
    falling = (centres[2:] - mels[:, None]) / np.diff(centres)[1:]
    bands: NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling))
    # A low band may be narrower than the distance of two frequencies: it takes the nearest one.
    for band in np.flatnonzero(bands.sum(axis=0) == 0):
        bands[np.abs(mels - centres[band + 1]).argmin(), band] = 1.0
    normalised: NDArray[np.float64] = bands / bands.sum(axis=0)
    return normalised
