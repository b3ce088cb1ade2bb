"""Robust fits: figures from recent measurements, which a few outliers don't move."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WINDOW = 64
"""Number of latest measurements that are kept."""

HALF_LIFE = 16
"""Age, in measurements, at which a measurement weighs half: after this many, a new pace outweighs the old one."""

_APART = 1.5
"""Smallest ratio between long and short measurements at which a line's two figures are fitted separately."""

_ENOUGH = 4
"""Number of measurements that must be on either side of that ratio; fewer could all be outliers."""

_MANY = 16
"""Number of measurements needed to fit the two figures separately; with fewer, the fixed one is mostly noise."""

_STEADYING = 2.0
"""Weight, in measurements, of each of the two points that stand for the first guess."""

_STEPS = 20
_EXACT = 1e-3
"""Relative residuals below this value count as equal."""

_Numbers = NDArray[np.float64]


class Middle:
    """Weighted median of the latest measurements."""

    def __init__(self, first: float) -> None:
        """
        Args:
            first: the value of `figure` until something is measured.
        """
        self._first = first
        self._seen: deque[float] = deque(maxlen=WINDOW)

    def add(self, value: float) -> None:
        self._seen.append(value)

    def clear(self) -> None:
        self._seen.clear()

    @property
    def figure(self) -> float:
        """Weighted median of the measurements; the first figure until something is measured."""
        return _median(np.array(self._seen), _weights(len(self._seen))) if self._seen else self._first


class Line:
    """`y = fixed + slope * x`, neither figure below 0, fitted by least absolute relative deviations.

    While all `x` are much alike, only the pace is fitted: both first figures are multiplied by one factor.
    """

    def __init__(self, fixed: float, slope: float) -> None:
        """
        Args:
            fixed, slope: the figures until something is measured.
        """
        self._first = (fixed, slope)
        self._seen: deque[tuple[float, float]] = deque(maxlen=WINDOW)
        self._fitted: tuple[float, float] | None = None

    def add(self, x: float, y: float) -> None:
        """Add a measurement: `y` at `x`, both above 0."""
        self._seen.append((x, y))
        self._fitted = None

    def clear(self) -> None:
        self._seen.clear()
        self._fitted = None

    @property
    def count(self) -> int:
        """Number of measurements that the fit rests on."""
        return len(self._seen)

    @property
    def figures(self) -> tuple[float, float]:
        """The fitted `fixed` and `slope`."""
        if self._fitted is None:
            self._fitted = self._fit() if self._seen else self._first
        return self._fitted

    def __call__(self, x: float) -> float:
        fixed, slope = self.figures
        return fixed + slope * x

    def _fit(self) -> tuple[float, float]:
        x, y = np.array(self._seen).T
        weights = _weights(len(x))
        fixed, slope = self._first
        pace = _median(y / (fixed + slope * x), weights)
        fixed, slope = pace * fixed, pace * slope
        lengths = np.sort(x)
        if len(x) < _MANY or lengths[_ENOUGH - 1] * _APART > lengths[-_ENOUGH]:
            return fixed, slope
        # Two points of the first line hold the fixed part steady where only jitter contradicts it.
        edges = lengths[[0, -1]]
        x, y = np.append(x, edges), np.append(y, fixed + slope * edges)
        weights = np.append(weights, [_STEADYING, _STEADYING])
        expected = fixed + slope * x
        for _ in range(_STEPS):
            # Least squares with weights of 1 / distance, iterated, converge to least absolute distances.
            residuals = np.abs(y - fixed - slope * x) / expected
            fixed, slope = _line(x, y, weights / (np.maximum(residuals, _EXACT) * expected**2))
        if fixed < 0:
            return 0.0, _median(y / x, weights)
        if slope < 0:
            return _median(y, weights), 0.0
        return fixed, slope


def _line(x: _Numbers, y: _Numbers, weights: _Numbers) -> tuple[float, float]:
    total = weights.sum()
    middle_x, middle_y = (weights * x).sum() / total, (weights * y).sum() / total
    apart = x - middle_x
    slope = (weights * apart * (y - middle_y)).sum() / (weights * apart**2).sum()
    return float(middle_y - slope * middle_x), float(slope)


def _weights(count: int) -> _Numbers:
    return np.asarray(0.5 ** (np.arange(count - 1, -1, -1) / HALF_LIFE))


def _median(values: _Numbers, weights: Sequence[float] | _Numbers) -> float:
    order = np.argsort(values)
    below = np.cumsum(np.asarray(weights)[order])
    return float(values[order[np.searchsorted(below, below[-1] / 2)]])
