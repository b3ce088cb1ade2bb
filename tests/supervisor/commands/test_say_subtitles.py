"""Subtitles: their cues, and `kokoro-live say --subtitles`, through a server or without one."""

import base64
import io
import re
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from pysubs2 import SSAFile

from books.writing.subtitles import cues, subtitles
from shm.timing import WordTiming
from tests.frontend.http_fakes import speech
from tests.frontend.served import served
from tests.supervisor.commands.saying import TEXT, outcome, player, run
from worker import select
from worker.engines.espeak import EspeakEngine

STOP = "Please stop! Now it is over."


@pytest.mark.parametrize("name", ["x.srt", "x.VTT"])
def test_subtitles_of_what_is_spoken_here(tmp_path, name):
    result = run(STOP, "-o", tmp_path / "x.wav", "--subtitles", tmp_path / name, "--engine", "espeak")
    assert (result.exit_code, result.output) == (0, "")
    with wave.open(str(tmp_path / "x.wav")) as audio:
        seconds = audio.getnframes() / audio.getframerate()
    text = (tmp_path / name).read_text()
    assert text.startswith("WEBVTT\n") == (name == "x.VTT")
    [cue] = SSAFile.from_string(text)
    assert (cue.start, cue.plaintext) == (0, STOP)
    assert 0.6 * seconds < cue.end / 1000 <= seconds
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["x.wav", name])


def test_subtitles_are_whole_when_a_player_was_quit(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    player(tmp_path / "bin", monkeypatch, "exit 0")
    text = "A sentence that is said again and again. " * 60
    assert run(text, "--subtitles", tmp_path / "x.srt", "--engine", "espeak").exit_code == 0
    cues = SSAFile.load(str(tmp_path / "x.srt"))
    assert " ".join(cue.plaintext.replace("\n", " ") for cue in cues) == text.strip()


def test_an_engine_that_cannot_tell_when_words_sound_leaves_no_file(tmp_path, monkeypatch):
    engine = EspeakEngine()
    engine.info = msgspec.structs.replace(engine.info, marks=False, model="mute")
    monkeypatch.setattr(select, "choose", lambda settings: engine)
    result = run(STOP, "-o", tmp_path / "x.wav", "--subtitles", tmp_path / "x.srt")
    assert result.exit_code == 1
    assert "can't tell when words sound with the model mute" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def a_wav(samples: np.ndarray, rate: int = 24_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setnchannels(1)
        audio.setsampwidth(2)
        audio.setframerate(rate)
        audio.writeframes(samples.tobytes())
    return file.getvalue()


@asynccontextmanager
async def answering(answer: web.Response, asked: list[dict[str, object]]) -> AsyncIterator[str]:
    async def speech_asked(request: web.Request) -> web.Response:
        asked.append(await request.json())
        return answer

    app = web.Application()
    app.router.add_post("/v1/audio/speech", speech_asked)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


def captioned(audio: bytes) -> web.Response:
    words = [
        {"word": "Hi,", "said": "hi", "start": 0.1, "end": 0.4},
        {"word": "you.", "said": "u", "start": 0.5, "end": 0.75},
    ]
    body = {"audio": base64.b64encode(audio).decode(), "format": "wav", "sample_rate": 24_000, "words": words}
    return web.json_response(body | {"duration": 2.0})


def test_subtitles_of_what_a_server_spoke(tmp_path):
    asked = []
    with served(answering(captioned(a_wav(speech(48_000))), asked)) as url:
        arguments = [TEXT, "-o", tmp_path / "x.pcm", "--subtitles", tmp_path / "x.srt", "--url", url, "--speed", "2"]
        assert outcome(*arguments) == (0, b"", "")
    assert (tmp_path / "x.pcm").read_bytes() == speech(48_000).tobytes()
    assert (tmp_path / "x.srt").read_text() == "1\n00:00:00,100 --> 00:00:01,100\nHi, you.\n\n"
    [body] = asked
    assert body.items() >= {"input": TEXT, "speed": 2.0, "timestamps": "word", "stream": False}.items()
    assert body["response_format"] == "wav" and "stream_format" not in body


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: web.Response(body=a_wav(speech(9)), content_type="audio/wav"), "it can't tell when words sound"),
        (lambda: web.json_response({"status": "ok"}), "says in no way that is known when words sound"),
        (lambda: captioned(b"nonsense"), "its audio is no WAV file"),
        (lambda: captioned(a_wav(speech(9), 48_000)), "at 48000 Hz"),
        (lambda: web.json_response({"error": {"message": "no marks here"}}, status=400), "no marks here"),
    ],
)
def test_a_server_without_times_of_words_leaves_no_file(tmp_path, answer, says):
    with served(answering(answer(), [])) as url:
        code, _, error = outcome(TEXT, "-o", tmp_path / "x.wav", "--subtitles", tmp_path / "x.srt", "--url", url)
    assert code == 1
    assert says in " ".join(error.split()) and "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


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
    shown = "1\n00:00:00,062 --> 00:00:01,062\nHello,\n\n2\n01:01:01,500 --> 01:01:02,750\nworld.\n\n"
    assert subtitles(cues(HELLO), "srt") == shown
    assert subtitles(cues(HELLO), "vtt") == "WEBVTT\n\n" + re.sub(r"(\d),(\d)", r"\1.\2", shown)


@pytest.mark.parametrize("format_", ["srt", "vtt"])
def test_what_is_written_is_read_again(format_: str) -> None:
    read = SSAFile.from_string(subtitles(cues(LONG), format_))
    assert " ".join(event.plaintext.replace("\n", " ") for event in read) == ("Some words here. " * 9).strip()
    assert (read[0].start, read[-1].end) == (0, 13_400)
    assert len(read) > 2


@pytest.mark.parametrize("word", ["{braces}", r"C:\new\Home\hi", r"{\i1}", "a<b>c", "x&amp;y", "{\\p1}"])
def test_what_means_something_to_a_format_is_text(word: str) -> None:
    timings = [WordTiming(word, word, 0.0, 1.0)]
    assert subtitles(cues(timings), "srt").splitlines()[2] == word
    escaped = word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert subtitles(cues(timings), "vtt").splitlines()[4] == escaped


def test_no_words() -> None:
    assert subtitles(cues([]), "srt") == ""
    assert subtitles(cues([]), "vtt") == "WEBVTT\n\n"
