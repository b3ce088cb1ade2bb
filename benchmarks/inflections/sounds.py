"""Pitch, range, level and length of a sound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.pitch import PITCH_HOP, pitches
from shm.audio import SAMPLE_RATE, Pcm

Track = NDArray[np.floating[Any]]
"""Semitones of each 10 ms."""


def semitones(plain: Pcm, changed: Pcm) -> float:
    """Median shift of frames that are voiced in both, of sounds of the same length."""
    one, other = pitches(plain), pitches(changed)
    frames = min(len(one), len(other))
    both = ~np.isnan(one[:frames]) & ~np.isnan(other[:frames])
    return float(np.median(12 * np.log2(other[:frames][both] / one[:frames][both])))


def widened(plain: Pcm, changed: Pcm) -> float:
    """Factor on the pitch's range, of sounds of the same length: semitones of one for each of the other.

    Frames that are voiced in both count. Percentiles of each sound by itself would compare other frames with each
    other: a voice creaks at the ends of a wider range, and then has no pitch.
    """
    one, other = _tracks(plain, changed)
    return _slope(one, other)


def climb(plain: Pcm, changed: Pcm) -> float:
    """Semitones by which the changed pitch climbs from the first sound to the last one, above the plain one's."""
    one, other = _tracks(plain, changed)
    begin, end = _sounding(plain)
    return _slope(np.arange(len(one)) * (PITCH_HOP / (end - begin)), other - one)


def _tracks(*sounds: Pcm) -> list[Track]:
    found = [12 * np.log2(pitches(each)) for each in sounds]
    frames = min(map(len, found))
    return [each[:frames] for each in found]


def _slope(given: Track, found: Track) -> float:
    """Median slope between the lower and the upper half of the given values; NaN counts nowhere."""
    there = np.flatnonzero(~np.isnan(given) & ~np.isnan(found))
    order = there[np.argsort(given[there], kind="stable")]
    lower, upper = order[: len(order) // 2], order[(len(order) + 1) // 2 :]
    runs = given[upper] - given[lower]
    return float(np.median((found[upper] - found[lower])[runs > 0] / runs[runs > 0]))


def level(samples: Pcm) -> float:
    """dB relative to full scale, of the root mean square."""
    return float(20 * np.log10(max(np.sqrt((samples.astype(float) ** 2).mean()), 1e-9) / 32768))


def last_pitch(samples: Pcm, around: Pcm | None = None) -> float:
    """Semitones between the median pitch of the last voiced 150 ms and the mean of all, or of the sound around."""
    found = pitches(samples)
    last = int(np.flatnonzero(~np.isnan(found)).max(initial=0)) + 1
    mean = np.exp(np.nanmean(np.log(found if around is None else pitches(around))))
    return float(12 * np.log2(np.nanmedian(found[max(0, last - 15) : last]) / mean))


def seconds(samples: Pcm) -> float:
    """Time from the first audible sample (-50 dBFS) to the last one."""
    begin, end = _sounding(samples)
    return (end - begin) / SAMPLE_RATE


def _sounding(samples: Pcm) -> tuple[int, int]:
    loud = np.flatnonzero(np.abs(samples) > 100)
    return (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, 0)


def squeezed(samples: Pcm, factor: float) -> Pcm:
    """The sound in less time, at its own pitch, by FFmpeg's WSOLA (of the extra `quality`)."""
    import av

    graph = av.filter.Graph()
    steps = [graph.add("atempo", str(factor**0.5)) for _ in range(2)]  # each takes a factor of at most 2 well
    first = graph.add_abuffer(format="s16", sample_rate=SAMPLE_RATE, layout="mono", time_base=Fraction(1, SAMPLE_RATE))
    graph.link_nodes(first, *steps, graph.add("abuffersink")).configure()
    frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
    frame.sample_rate = SAMPLE_RATE
    graph.push(frame)
    graph.push(None)
    found: list[Pcm] = []
    while True:
        try:
            found.append(graph.pull().to_ndarray()[0])
        except (av.error.EOFError, av.error.BlockingIOError):
            return np.concatenate(found)
