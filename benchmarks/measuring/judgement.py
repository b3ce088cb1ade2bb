"""Verdicts on medians: how sure they are follows from the number of runs and from how far these scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.measuring.figures import median, median_interval
from benchmarks.measuring.report import Verdict


def at_most(target: str, values: Sequence[float], limit: float, shown: Callable[[float], str]) -> Verdict:
    """The verdict that the median is at most `limit`; certain if its 95 % interval lies on one side of the limit.

    Args:
        shown: a value with its unit.
    """
    return _verdict(target, values, shown, lambda value: value <= limit, f"limit {shown(limit)}")


def at_least(target: str, values: Sequence[float], limit: float, shown: Callable[[float], str]) -> Verdict:
    """The verdict that the median is at least `limit`; otherwise like `at_most`."""
    return _verdict(target, values, shown, lambda value: value >= limit, f"limit {shown(limit)}")


def _verdict(
    target: str, values: Sequence[float], shown: Callable[[float], str], meets: Callable[[float], bool], limit: str
) -> Verdict:
    found = median(values)
    bounds = median_interval(values)
    said = f"{shown(found)} ({limit})"
    if bounds is None:
        return Verdict(target, f"{said}; {len(values)} runs are too few", meets(found), certain=False)
    said += f"; 95 %: {shown(bounds[0])} to {shown(bounds[1])}, {len(values)} runs"
    return Verdict(target, said, meets(found), certain=meets(bounds[0]) == meets(bounds[1]))
