"""`kokoro-live doctor` on a machine of the test's own, and its findings."""

import json
import types
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from supervisor.commands.checks import machine
from supervisor.commands.checks.finding import Circumstances
from supervisor.commands.doctor import doctor
from supervisor.settings.composition import Settings
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        monkeypatch.setenv("KOKORO_LIVE_PORT", "0")
        monkeypatch.setattr(machine, "supervisors", lambda: iter(()))  # this machine's are none of the tests'
        card = types.SimpleNamespace(name="a card", close=lambda: None)  # nor is its sound card
        monkeypatch.setattr("player.output.output.open_output", lambda fill, buffer_ms: card)
        yield


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin")
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(doctor, [str(argument) for argument in arguments])


def findings(output: str) -> dict[str, dict[str, str]]:
    return {row.pop("check"): row for row in json.loads(output)}


def circumstances(**values: Any) -> Circumstances:
    return Circumstances(Settings.of(values), Path("config.toml"), "")
