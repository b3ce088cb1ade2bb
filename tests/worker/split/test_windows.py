"""The windows of a segment: all of it, in order, growing, and the same whenever it is asked."""

import numpy as np
import pytest

from worker.settings import WorkerSettings
from worker.split.segments.windows import SHORTEST, WindowShape, lead_of, marks_of, windows

FIRST = 24


@pytest.mark.parametrize("longest", [24, 30, 48, 160])
@pytest.mark.parametrize("begin", [0, 1, 32])
@pytest.mark.parametrize("length", [1, 11, 12, 24, 35, 36, 55, 56, 79, 80, 119, 120, 131, 132, 500, 2213])
def test_they_cover_the_segment(begin, length, longest):
    plan = list(windows(begin, begin + length, WindowShape(FIRST, 1.3, longest)))
    assert [plan[0].begin, *(window.end for window in plan)] == [*(window.begin for window in plan), begin + length]
    sizes = [window.end - window.begin for window in plan]
    assert all(FIRST <= size <= longest for size in sizes[:-1])
    assert sizes[:-1] == sorted(sizes[:-1])
    assert sizes[-1] < longest + SHORTEST
    assert len(sizes) == 1 or sizes[-1] >= SHORTEST


def test_the_first_is_short_and_they_grow():
    plan = list(windows(0, 400, WindowShape(FIRST, 1.3, 80)))
    assert [window.end - window.begin for window in plan] == [24, 24, 32, 40, 52, 68, 80, 80]


def test_nothing_has_no_windows():
    assert list(windows(8, 8, WindowShape(FIRST, 1.3, 48))) == []


def test_without_growth_all_are_as_long_as_the_first():
    plan = list(windows(0, 240, WindowShape(FIRST, 1.0, 80)))
    assert {window.end - window.begin for window in plan} == {24}


def test_the_settings_are_in_seconds():
    shape = WindowShape.of(WorkerSettings(first_window=0.2, window_growth=2.0, window=1.0))
    assert shape == WindowShape(16, 2.0, 80)


# Marks from durations.


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
