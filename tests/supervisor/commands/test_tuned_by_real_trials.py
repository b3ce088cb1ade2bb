"""`kokoro-live tune` with real trials of a real model, and a server that goes by what they found."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from supervisor.commands import tune as tune_module
from supervisor.tuning.runner import SubprocessRunner
from tests.split_model import make_split_model, make_split_voices
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.commands.tune_command import folder, found, tune
from tests.system.server import Server, server


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


def speaking(running: Server) -> dict[str, Any]:
    status, answer = running.get("/status")
    assert status == 200
    engine: dict[str, Any] = answer["engine"]
    return {"costs": answer["costs"], **engine}


DEADLY = """
import io, json, os, runpy, signal, sys
spec = sys.stdin.buffer.read()
if json.loads(spec)["settings"]["spinning"]:
    os.kill(os.getpid(), signal.SIGSEGV)
sys.stdin = io.TextIOWrapper(io.BytesIO(spec))
runpy.run_module("worker.tuning.trial", run_name="__main__")
"""
"""A trial on a machine where spinning is deadly."""


SENTENCES = "The old keeper climbed the narrow stairs every evening. Nobody else had ever wanted to do that for him."
"""Each long enough to be a segment, unless the minimum is beyond it."""


def test_real_trials_of_a_real_model_and_a_server_that_goes_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What crashes is passed over. Whatever was chosen, the server has it; what the server is given, wins."""
    models = tmp_path / "models"
    models.mkdir()
    model = make_split_model(models / "small.onnx")
    make_split_voices(models / "voices.bin")
    run = SubprocessRunner(60, (sys.executable, "-c", DEADLY))
    monkeypatch.setattr(tune_module, "runner", lambda settings: run)
    given = ["--concurrency", "1", "--memory-arena", "--no-memory-pattern"]
    profile = found(tune(model, "--quick", "--trials", 0, "--json", *given))
    notes = {each.tried: each.note for each in profile.attempts}
    assert "SIGSEGV" in notes["spinning on"] and profile.chosen.spinning is None
    (label,) = profile.costs
    assert label.startswith("kokoro small.onnx")

    # What such a small model gains is chance, so what was chosen is made certain.
    chosen = msgspec.structs.replace(profile.chosen, threads=1, first_window=0.2, min_first_tokens=200)
    profiles = folder(model)
    profiles.write(msgspec.structs.replace(profile, chosen=chosen))
    assert json.loads(profiles.costs_file(profile.key).read_text()) == profile.costs
    config = tmp_path / "config.toml"
    config.write_text("")
    arguments = ["--model-dir", models, "--cache-dir", tmp_path / "cache", "--config", config, "--engine", "kokoro"]
    with server(*map(str, arguments), *given) as running:
        running.logs(r"tuned 0 minutes ago: .*threads 1")
        in_one = running.hear(input=SENTENCES, response_format="pcm")
        engine = speaking(running)
        assert engine["threads"] == 1 and engine["first_block_seconds"] == pytest.approx(0.2)
        plans = engine["costs"][label]["plans_are_made_for"]
        assert plans["per_audio"] == pytest.approx(profile.costs[label]["per_audio"])
        config.write_text("tuned = false\n")
        running.process.send_signal(signal.SIGHUP)
        running.logs(r"front\[\d+\] has finished")
        running.logs(r"worker\[\d+\] has finished")
        assert speaking(running)["first_block_seconds"] == pytest.approx(0.3)
        in_two = running.hear(input=SENTENCES, response_format="pcm")
        assert len(in_one) != len(in_two), "segments are no longer than usual, though they have to be"
        said = len(running.log)
        config.write_text("")
        running.process.send_signal(signal.SIGHUP)
        running.logs(r"tuned 0 minutes ago: .*threads 1", said)
        running.logs(r"worker\[\d+\] has finished", said)
        assert speaking(running)["first_block_seconds"] == pytest.approx(0.2)
