"""What is expected of segments, from those before them."""

from __future__ import annotations

import pytest

from frontend.estimate import Estimate
from shm.audio import SAMPLE_RATE


def test_the_first_segment_replaces_the_guess() -> None:
    estimate = Estimate()
    estimate.observe(tokens=100, speed=1.0, samples=5 * SAMPLE_RATE, seconds=2.0)
    assert estimate.samples(100, 1.0) == pytest.approx(5 * SAMPLE_RATE)
    assert estimate.seconds(50, 1.0) == pytest.approx(1.0)


def test_a_faster_pace_is_shorter_and_less_work() -> None:
    estimate = Estimate()
    estimate.observe(tokens=100, speed=2.0, samples=5 * SAMPLE_RATE, seconds=2.0)
    assert estimate.samples(100, 1.0) == pytest.approx(10 * SAMPLE_RATE)
    assert estimate.samples(100, 4.0) == pytest.approx(2.5 * SAMPLE_RATE, rel=1e-3)
    assert estimate.seconds(100, 2.0) == pytest.approx(2.0)


def test_it_follows_a_machine_that_slows_down_and_forgives_one_outlier() -> None:
    estimate = Estimate()
    for _ in range(20):
        estimate.observe(100, 1.0, 5 * SAMPLE_RATE, 1.0)
    estimate.observe(100, 1.0, 5 * SAMPLE_RATE, 5.0)
    assert estimate.seconds(100, 1.0) < 1.5
    for _ in range(40):
        estimate.observe(100, 1.0, 5 * SAMPLE_RATE, 5.0)
    assert estimate.seconds(100, 1.0) == pytest.approx(5.0, rel=0.05)
