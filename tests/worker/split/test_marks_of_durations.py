"""From durations to marks."""

import numpy as np

from worker.split.marks import lead_of, marks_of


def test_the_published_models_own_example():
    """af_heart's durations of six phonemes and two pads, as the real weights predict them."""
    durations = np.array([18, 2, 2, 3, 4, 9, 18])
    assert durations.sum() * 600 == 33_600
    assert marks_of(durations) == ((0, 10_800), (1, 12_000), (2, 13_200), (3, 15_000), (4, 17_400), (5, 22_800))
    assert lead_of(durations) == 16
    assert marks_of(durations, 16)[0] == (0, 1_200)


def test_a_short_lead_is_kept():
    assert [lead_of(np.array([first, 3, 3])) for first in (1, 2, 3)] == [0, 0, 1]
