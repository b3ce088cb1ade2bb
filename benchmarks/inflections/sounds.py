"""Pitch, range, level and length of a sound."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.pitch import pitches
from shm.audio import SAMPLE_RATE, Pcm


def semitones(plain: Pcm, changed: Pcm) -> float:
    """Median shift of frames that are voiced in both, of sounds of the same length."""
    one, other = pitches(plain), pitches(changed)
    frames = min(len(one), len(other))
    both = ~np.isnan(one[:frames]) & ~np.isnan(other[:frames])
    return float(np.median(12 * np.log2(other[:frames][both] / one[:frames][both])))


def spread(samples: Pcm) -> float:
    """Distance of the pitch's tenth and ninetieth percentile in semitones."""
    voiced = pitches(samples)
    low, high = np.percentile(12 * np.log2(voiced[~np.isnan(voiced)]), [10, 90])
    return float(high - low)


def level(samples: Pcm) -> float:
    """dB relative to full scale, of the root mean square."""
    return float(20 * np.log10(max(np.sqrt((samples.astype(float) ** 2).mean()), 1e-9) / 32768))


def climb(samples: Pcm) -> float:
    """Semitones from the median pitch of the first third to that of the last one."""
    voiced = pitches(samples)
    voiced = 12 * np.log2(voiced[~np.isnan(voiced)])
    third = len(voiced) // 3
    return float(np.median(voiced[-third:]) - np.median(voiced[:third]))


def last_pitch(samples: Pcm) -> float:
    """Semitones between the median pitch of the last voiced 150 ms and the mean of all."""
    found = pitches(samples)
    last = int(np.flatnonzero(~np.isnan(found)).max(initial=0)) + 1
    return float(12 * np.log2(np.nanmedian(found[max(0, last - 15) : last]) / np.exp(np.nanmean(np.log(found)))))


def seconds(samples: Pcm) -> float:
    """Time from the first audible sample (-50 dBFS) to the last one."""
    loud = np.flatnonzero(np.abs(samples) > 100)
    return float(loud[-1] - loud[0] + 1) / SAMPLE_RATE if len(loud) else 0.0
