"""Cues: how much text is shown at once, for how long, and where it is cut."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysubs2 import SSAFile

from shm.timing import WordTiming
from supervisor.speaking.subtitles import Cue, cues, subtitles


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


LONG = [WordTiming(word, word, 0.5 * i, 0.5 * i + 0.4) for i, word in enumerate(("Some words here. " * 9).split())]

HELLO = [WordTiming("Hello,", "hello", 0.0625, 0.5), WordTiming("world.", "world", 3_661.5, 3_662.7504)]


def test_each_format_has_its_head_and_its_point() -> None:
    cues = "1\n00:00:00,062 --> 00:00:01,062\nHello,\n\n2\n01:01:01,500 --> 01:01:02,750\nworld.\n\n"
    assert subtitles(HELLO, "srt") == cues
    assert subtitles(HELLO, "vtt") == "WEBVTT\n\n" + re.sub(r"(\d),(\d)", r"\1.\2", cues)


@pytest.mark.parametrize("format_", ["srt", "vtt"])
def test_what_is_written_is_read_again(format_: str) -> None:
    read = SSAFile.from_string(subtitles(LONG, format_))
    assert " ".join(event.plaintext.replace("\n", " ") for event in read) == ("Some words here. " * 9).strip()
    assert (read[0].start, read[-1].end) == (0, 13_400)
    assert len(read) > 2


@pytest.mark.parametrize("word", ["{braces}", r"C:\new\Home\hi", r"{\i1}", "a<b>c", "x&amp;y", "{\\p1}"])
def test_what_means_something_to_a_format_is_text(word: str) -> None:
    timings = [WordTiming(word, word, 0.0, 1.0)]
    assert subtitles(timings, "srt").splitlines()[2] == word
    escaped = word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert subtitles(timings, "vtt").splitlines()[4] == escaped


def test_no_words() -> None:
    assert subtitles([], "srt") == ""
    assert subtitles([], "vtt") == "WEBVTT\n\n"
