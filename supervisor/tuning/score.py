"""How good one trial is beside another: one figure, of ratios only, since machines are never equally busy twice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from worker.tuning.records import Measured

FIRST_WEIGHT, REAL_TIME_WEIGHT, TOGETHER_WEIGHT = 0.5, 0.2, 0.3
"""Exponents of the ratios in a score. What one waits for counts as much as how much is made: alone, where it decides
whether playback stays ahead, and with all lanes, where it decides how many can listen."""

SILENCE_PRICE = 10.0
"""A second of silence in the middle of speech is as bad as so many before it: the planner's own price."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """One trial against another that spoke the same texts. More than 1 is better, but for memory."""

    first: float
    """Time to first audio alone, with silences at their price."""
    real_time: float
    """Audio per second of work, alone."""
    together: float
    """Audio per second, with all lanes."""
    memory: float
    """Resident memory, as a multiple of the other's."""

    @property
    def score(self) -> float:
        """The weighted geometric mean: twice as good in everything is 2."""
        first, real_time, together = math.log(self.first), math.log(self.real_time), math.log(self.together)
        return math.exp(FIRST_WEIGHT * first + REAL_TIME_WEIGHT * real_time + TOGETHER_WEIGHT * together)


def compare(tried: Measured, other: Measured) -> Ratios:
    """Text by text, so that long ones don't outweigh short ones."""
    texts = list(zip(tried.texts, other.texts, strict=True))
    assert texts and tried.together and other.together
    return Ratios(
        first=geometric_mean(waited(b.first, b.silence) / waited(a.first, a.silence) for a, b in texts),
        real_time=geometric_mean((a.audio / a.whole) / (b.audio / b.whole) for a, b in texts),
        together=tried.together / other.together,
        memory=tried.rss / other.rss,
    )


def waited(first: float, silence: float) -> float:
    """Seconds that count for a listener."""
    return first + SILENCE_PRICE * silence


def middle(ratios: Sequence[Ratios]) -> Ratios:
    """Of several pairs of the same two, the medians."""
    return Ratios(
        *(median(getattr(each, name) for each in ratios) for name in ("first", "real_time", "together", "memory"))
    )


def geometric_mean(ratios: Iterable[float]) -> float:
    return math.exp(fmean(map(math.log, ratios)))
