"""Estimates of a book's length and of the work that it takes."""

from books.book import BlockKind, Chapter, TextBlock
from books.making.progress import Pace, pace_of, spoken_seconds
from books.making.settings import BookPauses, BookSettings

CHAPTER = Chapter("One", (TextBlock(BlockKind.PARAGRAPH, "x" * 150), TextBlock(BlockKind.SCENE_BREAK)))


def test_letters_speed_and_pauses_make_the_length() -> None:
    settings = BookSettings(speed=2.0, pauses=BookPauses(paragraph=1.0, scene_break=2.0))
    assert spoken_seconds(CHAPTER, settings) == 150 / 15 / 2 + 3
    assert spoken_seconds(CHAPTER, settings, Pace(letters_per_second=30.0)) == 150 / 30 / 2 + 3


def test_a_server_that_has_measured_is_believed() -> None:
    costs = {"kokoro": {"real_time_factor": 0.2, "audio_seconds_per_token": 0.0625}, "espeak-ng": {}}
    assert pace_of({"engine": {"name": "kokoro"}, "costs": costs}) == Pace(16.0, 0.2, True)
    assert pace_of({"engine": {"name": "espeak-ng"}, "costs": costs}) == Pace()
    assert pace_of({}) == Pace()
