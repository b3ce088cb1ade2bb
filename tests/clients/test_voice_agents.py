"""LiveKit's plugins and Pipecat's services, unchanged from the package registry, speak through a real server.

The tests are slow because they install the clients into environments of their own (22 s and 48 s with uv on a 2-core
machine, plus imports); `.ci/run` runs them.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.system.server import Server, server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

AGENTS = Path(__file__).with_name("agents")
LIVEKIT = [f"livekit-{name}==1.8.9" for name in ("agents", *(f"plugins-{each}" for each in ("elevenlabs", "cartesia")))]
LIVEKIT += ["livekit-plugins-deepgram==1.8.9", "livekit-plugins-openai==1.8.9"]
PIPECAT = ["pipecat-ai[elevenlabs,cartesia,deepgram]==1.14.0"]

FIRST, SECOND = "Hello there, this is a first sentence.", "And here comes the second one"


@pytest.fixture(scope="module")
def espeak() -> Iterator[Server]:
    with server("--engine", "espeak") as started:
        yield started


def python_with(packages: list[str], folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", *packages], check=True, timeout=600)
    return python


def said(program: str, python: Path, server: object, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run the program with the server's port or address, and more of an environment, and read what it printed."""
    command, environment = [python, AGENTS / program, str(server)], os.environ | (more or {})
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def nothing_is_left(espeak: Server) -> None:
    status = espeak.get("/status")[1]
    assert not any(status["sockets"].values())
    assert (status["contexts"], status["active_streams"]) == (0, 0)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the plugins have no wheels for it")
def test_livekits_plugins(espeak: Server, tmp_path: Path) -> None:
    found = said("livekit_speaks.py", python_with(LIVEKIT, tmp_path / "venv"), espeak.port)
    assert len(found) == 6
    for name, each in found.items():
        assert each["whole"] > 1, name
        assert each["streamed"] > 4 or name == "openai", "LiveKit's plugin for OpenAI has one-shot calls alone"
        if name not in ("openai", "deepgram"):  # Deepgram's protocol has no word times
            assert each["last"] > 0.7 * each["streamed"], f"{name}: the last word's time isn't in the last sentence"
            assert each["words"].split() == f"{FIRST} {SECOND}, token by token.".split()
    nothing_is_left(espeak)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the services have no wheels for it")
def test_pipecats_services(espeak: Server, tmp_path: Path) -> None:
    found = said("pipecat_speaks.py", python_with(PIPECAT, tmp_path / "venv"), espeak.port)
    assert set(found) == {"elevenlabs", "cartesia", "deepgram", "deepgram flux"}
    for name, each in found.items():
        assert each["streamed"] > 4, name
        assert each["words"].split() == f"{FIRST} {SECOND}.".split(), name
    nothing_is_left(espeak)
