"""The windows of a segment: all of it, in order, growing, and the same whenever it is asked."""

import pytest

from worker.split.windows import FIRST, SHORTEST, windows


@pytest.mark.parametrize("longest", [24, 30, 48, 160])
@pytest.mark.parametrize("begin", [0, 1, 32])
@pytest.mark.parametrize("length", [1, 11, 12, 24, 35, 36, 55, 56, 79, 80, 119, 120, 131, 132, 500, 2213])
def test_they_cover_the_segment(begin, length, longest):
    plan = list(windows(begin, begin + length, longest))
    assert [plan[0].begin, *(window.end for window in plan)] == [*(window.begin for window in plan), begin + length]
    sizes = [window.end - window.begin for window in plan]
    assert all(FIRST <= size <= longest for size in sizes[:-1])
    assert sizes[:-1] == sorted(sizes[:-1])
    assert sizes[-1] < longest + SHORTEST
    assert len(sizes) == 1 or sizes[-1] >= SHORTEST


def test_the_first_is_short_and_they_grow():
    plan = list(windows(0, 400, 80))
    assert [window.end - window.begin for window in plan] == [24, 24, 32, 40, 80, 80, 80, 40]


def test_nothing_has_no_windows():
    assert list(windows(8, 8, 48)) == []
