"""Hours of the day in which books are made."""

from datetime import datetime

import pytest

from shm.book_jobs import Hours


@pytest.mark.parametrize(
    ("hours", "now", "closed"),
    [
        ("01:00-07:00", "03:00", 0),
        ("01:00-07:00", "00:00", 3600),
        ("1:00-7:00", "07:00", 18 * 3600),
        ("23:00-07:00", "23:30", 0),
        ("23:00-07:00", "06:00", 0),
        ("23:00-07:00", "22:00", 3600),
        ("22:00-24:00", "23:30", 0),
        ("22:00-24:00", "00:00", 22 * 3600),
        ("00:00-24:00", "12:00", 0),
    ],
)
def test_hours_may_pass_midnight(hours: str, now: str, closed: float) -> None:
    assert Hours(hours).closed(datetime.fromisoformat(f"2026-03-01T{now}:00")) == closed


@pytest.mark.parametrize("hours", ["", "1-7", "25:00-26:00", "01:00"])
def test_other_hours_are_an_error(hours: str) -> None:
    with pytest.raises(ValueError, match="01:00-07:00"):
        Hours(hours)
