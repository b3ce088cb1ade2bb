"""The windows of a segment: all of it, in order, growing, and the same whenever it is asked."""

import pytest

from worker.settings import WorkerSettings
from worker.split.segments.windows import SHORTEST, WindowShape, windows

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
