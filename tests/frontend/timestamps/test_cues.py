"""Cues: how much text is shown at once, for how long, and where it is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.timestamps.subtitles import Cue, cues
from shm.timing import WordTiming


def spoken(text: str, pace: float = 0.06, pauses: dict[str, float] | None = None) -> list[WordTiming]:
    """Words at so many seconds a character; `pauses` are seconds of silence after words."""
    timings, now = [], 0.0
    for word in text.split():
        end = now + pace * len(word)
        timings.append(WordTiming(word, word, now, end))
        now = end + pace + (pauses or {}).get(word, 0.0)
    return timings


def shown(timings: list[WordTiming]) -> list[str]:
    return [" | ".join(cue.lines) for cue in cues(timings)]


def test_a_short_text_is_one_cue() -> None:
    timings = spoken("It was dark, and it rained.")
    assert list(cues(timings)) == [Cue(0.0, timings[-1].end, ("It was dark, and it rained.",))]


def test_two_lines_are_about_as_long_and_cut_where_one_pauses() -> None:
    assert shown(spoken("The house had neither doors nor windows and no chimney either.")) == [
        "The house had neither doors nor | windows and no chimney either."
    ]
    assert shown(spoken("The house had no doors, and neither windows nor chimneys.")) == [
        "The house had no doors, | and neither windows nor chimneys."
    ]


def test_a_cue_has_whole_sentences() -> None:
    assert shown(spoken("Yes. No. Mr. Brown isn't here. He left an hour ago with his old umbrella in his hand.")) == [
        "Yes. No. Mr. Brown isn't here.",
        "He left an hour ago with his | old umbrella in his hand.",
    ]


def test_a_sentence_that_is_too_long_is_cut_at_a_clause() -> None:
    text = "When at last the very long winter had come to its end, the people of the valley went out to see the fields."
    assert shown(spoken(text)) == [
        "When at last the very long | winter had come to its end,",
        "the people of the valley | went out to see the fields.",
    ]


def test_a_clause_at_the_beginning_is_no_place_to_cut() -> None:
    text = "Well, the people of the valley went out to see the fields and the trees and all the rivers of it again"
    assert shown(spoken(text))[0].startswith("Well, the people of the valley went out")


def test_a_long_pause_ends_a_cue() -> None:
    assert shown(spoken("and then there was nothing", pauses={"then": 2.0})) == ["and then", "there was nothing"]


def test_what_is_spoken_slowly_is_shown_in_parts() -> None:
    assert all(cue.end - cue.start <= 7 for cue in cues(spoken("It was dark and it rained all day", pace=0.5)))
    [cue] = cues(spoken("slow", pace=4.0))
    assert (cue.start, cue.end) == (0.0, 7.0)


def test_what_is_said_quickly_stays_until_it_can_be_read() -> None:
    timings = [WordTiming("Go!", "Go!", 0.0, 0.2), WordTiming("Now.", "Now.", 1.9, 2.1)]
    assert [(cue.start, cue.end) for cue in cues(timings)] == [(0.0, 1.0), (1.9, 2.9)]
    timings = [WordTiming("x" * 42, "", 0.0, 0.2), WordTiming("y" * 42, "", 0.2, 0.4), WordTiming("z", "", 0.5, 0.6)]
    first, second = cues(timings)
    assert first.end == second.start == 0.5


FOX = "狗在阳光下睡觉，狐狸从它身上跳过去。"


@pytest.mark.parametrize(
    ("word", "lines"),
    [("x" * 100, ["x" * 42 + " | " + "x" * 42, "x" * 16]), (FOX * 3, [f"{FOX}{FOX} | {FOX}"])],
)
def test_a_word_longer_than_a_line_is_cut(word: str, lines: list[str]) -> None:
    found = list(cues([WordTiming(word, word, 1.0, 6.0)]))
    assert [" | ".join(cue.lines) for cue in found] == lines
    assert found[0].start == 1.0 and found[-1].end >= 6.0


def test_nothing_spoken_nothing_shown() -> None:
    assert list(cues([])) == []


@st.composite
def timings(draw: st.DrawFn) -> list[WordTiming]:
    words = draw(st.lists(st.text("ab.,!?«»狗。，- ", min_size=1, max_size=60), max_size=40))
    now, found = 0.0, []
    for word in words:
        start = now + draw(st.floats(0, 4))
        now = start + draw(st.floats(0, 9))
        found.append(WordTiming(word, word, start, now))
    return found


@given(timings())
def test_every_word_is_shown_once_within_the_limits(spoken: list[WordTiming]) -> None:
    found = list(cues(spoken))
    everything = "".join(timing.word for timing in spoken)
    assert "".join("".join("".join(cue.lines) for cue in found).split()) == "".join(everything.split())
    for cue in found:
        assert 1 <= len(cue.lines) <= 2
        assert all(0 < len(line) <= 42 and line == line.strip() for line in cue.lines)
        assert 0 <= cue.end - cue.start <= 7.000001
    assert all(one.end <= other.start for one, other in pairwise(found))
