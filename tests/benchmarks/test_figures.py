"""Statistics of measurements."""

import pytest

from benchmarks.measuring.figures import Summary, jain, median_interval, percentile


def test_a_percentile_lies_between_its_neighbours() -> None:
    """Half of 10, 20, 30, 40 lie below 25, and the 100th percentile is the greatest."""
    assert percentile([40, 10, 30, 20], 50) == 25
    assert percentile([40, 10, 30, 20], 0) == 10
    assert percentile([40, 10, 30, 20], 100) == 40
    assert percentile(list(range(101)), 95) == 95


def test_of_nothing_there_is_no_figure() -> None:
    with pytest.raises(ValueError):
        percentile([], 50)
    with pytest.raises(ValueError):
        jain([])


def test_a_summary_counts_what_it_sums_up() -> None:
    found = Summary.of([3.0, 1.0, 2.0])
    assert (found.count, found.median, found.least, found.most) == (3, 2.0, 1.0, 3.0)


def test_a_percentile_that_few_values_cannot_have_is_absent() -> None:
    """A 95th percentile needs 20 values, a 99th 100."""
    few, some, many = (Summary.of([float(value) for value in range(count)]) for count in (19, 20, 100))
    assert (few.p95, few.p99) == (None, None)
    assert some.p95 is not None and some.p99 is None
    assert many.p95 is not None and many.p99 is not None and many.median < many.p95 < many.p99 < many.most


def test_fairness_is_one_among_equals_and_a_share_where_one_has_everything() -> None:
    assert jain([2.0, 2.0, 2.0]) == 1
    assert jain([5.0, 0.0, 0.0, 0.0]) == 0.25
    assert 0.25 < jain([5.0, 1.0, 1.0, 1.0]) < 1
    assert jain([0.0, 0.0]) == 1


def test_the_median_s_interval_is_by_order_statistics() -> None:
    """The interval ends at the least and the largest of six values, and at the sixth from each end of twenty (binomial,
    95 %)."""
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert median_interval([1, 2, 3, 4, 5, 6]) == (1, 6)
    assert median_interval(list(range(1, 21))) == (6, 15)
