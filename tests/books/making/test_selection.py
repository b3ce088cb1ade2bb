"""Chapters by number, and the file with the cast."""

import pytest

from books.book import BookError, Chapter
from books.making.casting import read_cast
from books.making.settings import chosen

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


def test_the_cast_is_a_small_file() -> None:
    cast = read_cast(b'narrator = "af_heart"\nquotes = "am_adam"\n[speakers]\nAlice = "bf_emma"\n')
    assert (cast.narrator, cast.quotes, cast.speakers) == ("af_heart", "am_adam", {"Alice": "bf_emma"})
    for wrong in (b"narrator = 1", b"voice = 'x'", b"[", b"\xff"):
        with pytest.raises(BookError, match="cast can't be read"):
            read_cast(wrong)
