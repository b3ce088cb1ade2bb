"""Distances between two renderings."""

import numpy as np
import pytest

from benchmarks.measuring.mel_distance import log_mel_distance
from shm.audio import SAMPLE_RATE
from worker.pcm import snr


def tone(frequency: float, seconds: float = 0.5, level: float = 8000) -> np.ndarray:
    return (level * np.sin(2 * np.pi * frequency * np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE)).astype(
        np.int16
    )


def test_equal_renderings_are_at_no_distance() -> None:
    assert log_mel_distance(tone(440), tone(440)) == 0
    assert snr(tone(440), tone(440)) > 100


def test_noise_at_a_hundredth_of_the_power_is_twenty_decibels_down() -> None:
    reference = tone(440)
    noise = np.random.default_rng(0).normal(0, reference.astype(float).std() / 10, len(reference))
    assert snr(reference, (reference + noise).astype(np.int16)) == pytest.approx(20, abs=0.3)


def test_half_the_level_is_six_decibels_away_in_every_band_that_sounds() -> None:
    noise = np.random.default_rng(0).normal(0, 3000, SAMPLE_RATE).astype(np.int16)
    half = (noise / 2).astype(np.int16)
    assert log_mel_distance(noise, half) == pytest.approx(6.02, abs=0.05)


def test_a_shift_at_high_frequencies_counts_less_in_mel_bands_than_one_at_low_ones() -> None:
    low = log_mel_distance(tone(200), tone(290))
    high = log_mel_distance(tone(9000), tone(9090))
    assert high < low / 3


def test_renderings_shorter_than_a_frame_can_be_compared() -> None:
    assert log_mel_distance(tone(440, 0.01), tone(880, 0.01)) > 1
