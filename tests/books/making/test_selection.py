"""Chapters by number, hours of the day, and the file with the cast."""

from __future__ import annotations

from datetime import datetime

import pytest

from books.book import Chapter
from books.errors import BookError
from books.making.cast_file import read_cast
from books.making.selection import Hours, chosen

CHAPTERS = [Chapter(str(number), ()) for number in range(1, 11)]


@pytest.mark.parametrize(
    ("ranges", "numbers"),
    [
        ("", "1 2 3 4 5 6 7 8 9 10"),
        ("3", "3"),
        ("3-5", "3 4 5"),
        ("9-", "9 10"),
        ("-2", "1 2"),
        ("5,1-2", "1 2 5"),
        ("9-999999999", "9 10"),
    ],
)
def test_chapters_are_chosen_by_number(ranges: str, numbers: str) -> None:
    assert [chapter.title for chapter in chosen(CHAPTERS, ranges)] == numbers.split()


@pytest.mark.parametrize("ranges", ["x", "11-12", "1,,2", "-", "3-1"])
def test_what_names_no_chapter_is_an_error(ranges: str) -> None:
    with pytest.raises(BookError):
        chosen(CHAPTERS, ranges)


@pytest.mark.parametrize(
    ("hours", "now", "closed"),
    [
        ("01:00-07:00", "03:00", 0),
        ("01:00-07:00", "00:00", 3600),
        ("1:00-7:00", "07:00", 18 * 3600),
        ("23:00-07:00", "23:30", 0),
        ("23:00-07:00", "06:00", 0),
        ("23:00-07:00", "22:00", 3600),
    ],
)
def test_hours_may_pass_midnight(hours: str, now: str, closed: float) -> None:
    assert Hours(hours).closed(datetime.fromisoformat(f"2026-03-01T{now}:00")) == closed


@pytest.mark.parametrize("hours", ["", "1-7", "25:00-26:00", "01:00"])
def test_other_hours_are_an_error(hours: str) -> None:
    with pytest.raises(BookError, match="01:00-07:00"):
        Hours(hours)


def test_the_cast_is_a_small_file() -> None:
    cast = read_cast(b'narrator = "af_heart"\nquotes = "am_adam"\n[speakers]\nAlice = "bf_emma"\n')
    assert (cast.narrator, cast.quotes, cast.speakers) == ("af_heart", "am_adam", {"Alice": "bf_emma"})
    for wrong in (b"narrator = 1", b"voice = 'x'", b"[", b"\xff"):
        with pytest.raises(BookError, match="cast can't be read"):
            read_cast(wrong)
