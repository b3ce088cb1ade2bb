"""`kokoro-live say --subtitles`, through a server or without one."""

import base64
import io
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pysubs2 import SSAFile

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
    """A server with one answer."""

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
