"""`kokoro-live voices`: the list of the server that runs, or of the engine that would speak."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import asdict

from frontend.speech.voices import described
from supervisor.commands import voices as voices_command
from supervisor.commands.voices import voices
from tests.file_server import file_server, page
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, serving
from tests.frontend.served import served
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment
from worker.voices.kokoro_voices import KOKORO_VOICES

VOICES = [sys.executable, "-m", "supervisor", "voices"]


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    with clean_environment(tmp_path, monkeypatch):
        yield


def run(*arguments: object) -> Result:
    return CliRunner().invoke(voices, [str(argument) for argument in arguments])


def test_espeaks_voices_have_kokoros_names():
    result = run("--engine", "espeak")
    assert result.exit_code == 0
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["voice", "language", "sex", "engine"]
    assert [row.split()[0] for row in rows] == [voice.name for voice in KOKORO_VOICES]
    assert ["bm_lewis", "en-gb", "male", "espeak-ng"] in [row.split() for row in rows]
    assert {row.index("espeak-ng") for row in rows} == {header.index("engine")}, "columns aren't below each other"


def test_a_terminal_shows_languages_with_the_best_voices_first(capsys: pytest.CaptureFixture[str]):
    own = {"id": "emma", "language": "tlh", "gender": None}
    voices_command._show([asdict(described(voice, "kokoro")) for voice in KOKORO_VOICES] + [own])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) < 25
    assert re.match("American English, female +af_heart[*] af_bella[*] af_nicole[*] af_alloy", lines[0])
    assert lines[-2].split() == ["tlh", "emma"] and "kokoro-live say --voice" in lines[-1]


def test_a_models_voices_are_those_of_its_file(tmp_path: Path):
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin", ["zf_xiaobei", "emma"])
    listed = json.loads(run("--json", "--model-dir", tmp_path).stdout)
    assert [(voice["id"], voice["language"], voice["gender"], voice["engine"]) for voice in listed] == [
        ("emma", "en-us", None, "kokoro"),
        ("zf_xiaobei", "cmn", "female", "kokoro"),
    ]


def test_an_engine_that_cant_be_loaded(tmp_path: Path):
    result = run("--engine", "kokoro", "--model-dir", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "kokoro-live models fetch" in result.stderr


def test_the_running_servers_list_is_the_one(monkeypatch: pytest.MonkeyPatch):
    with served(serving(FakeSpeaker())) as server:
        monkeypatch.setenv("KOKORO_LIVE_PORT", str(server.port))
        done = subprocess.run([*VOICES, "--json"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert [voice["id"] for voice in listed] == list(ENGINE.voice_names)
    assert {voice["engine"] for voice in listed} == {"kokoro"}


def test_both_sources_say_the_same_of_a_voice(tmp_path: Path):
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin", ENGINE.voice_names)
    with served(serving(FakeSpeaker())) as server:
        of_server = run("--url", server.url).stdout
    of_engine = run("--model-dir", tmp_path).stdout
    assert sorted(of_server.splitlines()) == sorted(of_engine.splitlines())
    assert len(of_server.splitlines()) == 1 + len(ENGINE.voice_names)


def test_a_server_that_has_no_list():
    with served(serving(FakeSpeaker(engine=None))) as server:
        result = run("--url", server.url)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: the model is loading\n")


def test_what_answers_there_may_be_something_else():
    with file_server() as server:
        server.script.append(page)
        result = run("--url", server.url)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"{server.url} answers with 200, and with no list of voices." in result.stderr
    result = run("--url", server.url)
    assert result.exit_code == 1
    assert f"no server answers at {server.url}" in result.stderr
