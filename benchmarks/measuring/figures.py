"""Statistics of measurements: percentiles, summaries, fairness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which `percent` of the values lie, interpolated between neighbours.

    Raises:
        ValueError: there are none.
    """
    if not values:
        raise ValueError("there is no percentile of nothing")
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: Sequence[float]) -> float:
    return percentile(values, 50)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Bounds of the true median, by order statistics: they hold for values of any distribution.

    Returns None for so few values that not even the least and the largest bound the median with that confidence.
    """
    ordered, count = sorted(values), len(values)
    outside = (1 - confidence) / 2
    below, inner = 0.0, 0
    """Probability that at most `inner` values lie below the median; the place of the bound, counted from each end."""
    for number in range(count // 2):
        below += math.comb(count, number) / 2**count
        if below > outside:
            break
        inner = number + 1
    return (ordered[inner - 1], ordered[count - inner]) if inner else None


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index of what each one got: 1 if all got the same, 1 / n if one got everything.

    R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination", DEC-TR-301, 1984.

    Raises:
        ValueError: there are none.
    """
    if not values:
        raise ValueError("there is no fairness among nobody")
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of one quantity, in that quantity's unit."""

    count: int
    median: float
    p95: float | None
    """None for fewer than 20 values, of which none lies above it."""
    p99: float | None
    """None for fewer than 100 values."""
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """
        Raises:
            ValueError: there are none.
        """
        return cls(
            len(values),
            median(values),
            percentile(values, 95) if len(values) >= 20 else None,
            percentile(values, 99) if len(values) >= 100 else None,
            min(values),
            max(values),
        )

    @classmethod
    def of_any(cls, values: Sequence[float]) -> Summary | None:
        """The values' summary; None if there are no values."""
        return cls.of(values) if values else None

    def as_dict(self) -> dict[str, float | None]:
        return asdict(self)
