"""A server with a profile of tuning: `/status` names it, and what becomes of it is survived and said."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.commands.status import status as status_command
from supervisor.tuning.profile_file import TuningProfile
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.profiles import make_profile
from tests.system.server import Server, server

FIGURES = {"per_token": 0.002, "audio_per_token": 0.07}


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


@pytest.fixture
def arguments(tmp_path: Path) -> tuple[str, ...]:
    make_miniature(tmp_path / "model.onnx")
    make_miniature(tmp_path / "variant.onnx", style=True)
    make_voices(tmp_path / "voices.bin")
    return "--model-dir", str(tmp_path), "--cache-dir", str(tmp_path / "cache")


def keep(arguments: tuple[str, ...], per_token: float = 0.002) -> TuningProfile:
    variant = Path(arguments[1], "variant.onnx")
    costs = {"kokoro variant.onnx CPUExecutionProvider": FIGURES | {"per_token": per_token}}
    return make_profile((*arguments, "--offline"), costs, age=7200.0, model=variant, threads=1)


def asked(running: Server) -> dict[str, object]:
    code, found = running.get("/status")
    assert code == 200
    return dict(found)


@pytest.mark.parametrize("change", ["gone", "damaged"])
def test_a_chosen_model_that_goes_while_the_server_runs_is_done_without(
    arguments: tuple[str, ...], change: str
) -> None:
    """1. it speaks; 2. its file goes, and the worker dies; 3. the model directory's own model speaks, loudly."""
    made = keep(arguments)
    with server(*arguments, "--standby", "off") as running:
        found = asked(running)
        assert found["engine"]["model"] == "variant.onnx"  # type: ignore[index]
        tuning = found["tuning"]
        assert isinstance(tuning, dict)
        assert (tuning["in_use"], tuning["verdict"]) == (True, made.verdict)
        assert tuning["chosen"] == {"model": "variant.onnx", "threads": "1"}
        assert 7200 <= tuning["age_seconds"] < 7200 + 600
        variant = Path(arguments[1], "variant.onnx")
        variant.unlink() if change == "gone" else variant.write_bytes(variant.read_bytes()[:1000])
        running.child("worker[").kill()
        running.logs("GOING ON WITHOUT WHAT TUNING FOUND.*variant.onnx")
        assert "model.onnx" in running.announced()
        assert len(running.hear(input="It still speaks.", response_format="pcm")) > 10_000
        found = asked(running)
        assert found["engine"]["model"] == "model.onnx"  # type: ignore[index]
        assert found["ready"] and not found["tuning"]["in_use"]  # type: ignore[index]
        assert "model.onnx speaks, and not variant.onnx" in found["tuning"]["reason"]  # type: ignore[index]


def test_status_shows_people_the_profile_or_why_there_is_none(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    keep(arguments)
    for more, said in (((), "chosen model variant.onnx"), (("--no-tuned",), "--no-tuned")):
        with server(*arguments, *more) as running:
            with pytest.raises(SystemExit):
                status_command(["--once", "--url", f"http://127.0.0.1:{running.port}"])
            shown = " ".join(capsys.readouterr().out.split())
            assert f"tuning in use {'no' if more else 'yes'}" in shown and said in shown


def test_new_costs_of_the_same_choice_bring_another_front_and_no_other_worker(arguments: tuple[str, ...]) -> None:
    keep(arguments)
    with server(*arguments, "--standby", "off") as running:
        front, worker = running.child("front"), running.child("worker[")
        keep(arguments, per_token=0.003)
        os.kill(running.process.pid, signal.SIGHUP)
        front.wait(60)
        assert running.child("worker[") == worker
        assert len(running.hear(input="It still speaks.", response_format="pcm")) > 10_000
