"""The files' text, as a player would read it."""

from __future__ import annotations

import re

import pytest
from pysubs2 import SSAFile

from frontend.timestamps.subtitles import subtitles
from shm.timing import WordTiming

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
