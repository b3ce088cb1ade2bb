"""The verdict on several workers: for a gain that every run shows, and no loss."""

from __future__ import annotations

import pytest

from benchmarks.workers import Run, verdict

ONE: list[Run] = [{"a sentence: first audio, s": 1.0, "3 listeners: times real time": 2.0}] * 3


@pytest.mark.parametrize(
    ("firsts", "speed", "met"),
    [
        ((0.9, 0.9, 0.9), 2.0, True),
        ((1.0, 1.0, 1.0), 2.2, True),
        ((1.0, 1.0, 1.0), 2.0, False),
        ((0.9, 0.9, 1.1), 2.0, False),
        ((0.9, 0.9, 0.9), 1.8, False),
    ],
)
def test_more_workers_pay_for_a_gain_in_every_run_without_a_loss(
    firsts: tuple[float, ...], speed: float, met: bool
) -> None:
    more: list[Run] = [{"a sentence: first audio, s": first, "3 listeners: times real time": speed} for first in firsts]
    assert verdict(ONE, more, 2).met is met
