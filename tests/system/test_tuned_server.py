"""A server with a tuning profile: it is measured with a real engine, applied, and named by `/status`."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from supervisor.cli import kokoro_live
from supervisor.commands import tune as comparison
from supervisor.settings.profile import TuningProfile, Way
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.profiles import make_profile
from tests.system.server import Server, server


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


@pytest.fixture
def arguments(tmp_path: Path) -> tuple[str, ...]:
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin")
    return "--model-dir", str(tmp_path), "--cache-dir", str(tmp_path / "cache"), "--vocoder", "whole"


def asked(running: Server) -> dict[str, Any]:
    code, found = running.get("/status")
    assert code == 200
    return dict(found)


@pytest.mark.slow
def test_a_real_engine_is_measured_and_the_server_goes_by_the_result(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. `tune` measures two ways; 2. `serve` applies the way; 3. SIGHUP without it takes the defaults back."""
    monkeypatch.setattr(comparison, "ROUNDS", 2)  # each loads an engine for each way
    placed = () if sys.platform == "darwin" else ("--worker-cpus", "0-1")
    result = CliRunner().invoke(kokoro_live, ["tune", "--json", *arguments, *placed])
    if "0-1" in result.stderr:
        pytest.skip("this process may not use processors 0 and 1")
    assert result.exit_code == 0, result.output
    profile = msgspec.json.decode(result.stdout, type=TuningProfile)
    assert [each.first and each.together and each.alone for each in profile.attempts].count(None) == 0

    make_profile(arguments, Way(threads=1, concurrency=3), age=7200.0)  # such a small model's gain is chance
    config = tmp_path / "config.toml"
    config.write_text("")
    with server(*arguments, "--config", str(config), "--standby", "off") as running:
        running.logs(r"tuned 2 hours ago: threads 1, concurrency 3")
        found = asked(running)
        assert (found["engine"]["threads"], found["engine"]["inference_threads"]) == (1, 3)
        assert found["tuning"]["in_use"] and found["tuning"]["chosen"] == {"threads": "1", "concurrency": "3"}
        assert 7200 <= found["tuning"]["age_seconds"] < 7200 + 600
        config.write_text("tuned = false\n")
        running.process.send_signal(signal.SIGHUP)
        running.logs(r"worker\[\d+\] has finished")
        found = asked(running)
        assert found["engine"]["inference_threads"] != 3 and "--no-tuned" in found["tuning"]["reason"]
