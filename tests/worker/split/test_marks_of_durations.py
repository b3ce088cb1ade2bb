"""Marks from durations."""

import numpy as np
import pytest

from worker.split.segments.windows import lead_of, marks_of


def test_the_published_models_own_example():
    """af_heart's durations of six phonemes and two pads, as the real weights predict them."""
    durations = np.array([18, 2, 2, 3, 4, 9, 18])
    assert durations.sum() * 600 == 33_600
    assert marks_of(durations) == ((0, 10_800), (1, 12_000), (2, 13_200), (3, 15_000), (4, 17_400), (5, 22_800))
    assert lead_of(durations, energy(silent=40)) == 16
    assert marks_of(durations, 16)[0] == (0, 1_200)


def test_a_short_lead_is_kept():
    assert [lead_of(np.array([first, 3, 3]), energy(silent=40)) for first in (1, 2, 3)] == [0, 0, 1]


@pytest.mark.parametrize(("silent", "expected"), [(40, 16), (36, 16), (35, 15), (20, 8), (5, 0), (0, 0)])
def test_sound_that_begins_inside_the_first_pad_is_kept_with_50_ms_before_it(silent, expected):
    """A word may begin up to 0.58 s before the pad's end at half speed."""
    assert lead_of(np.array([18, 2, 2, 18]), energy(silent)) == expected


def test_a_segment_that_is_silent_throughout_keeps_50_ms_of_its_lead():
    assert lead_of(np.array([18, 2, 18]), np.full((1, 76), -9.0)) == 16


def energy(silent):
    """An energy curve: frames of silence, then speech."""
    return np.concatenate([np.full((1, silent), -9.0), np.full((1, 60), 6.0)], axis=1)
