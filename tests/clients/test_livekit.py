"""LiveKit's `openai` plugin, the package itself, in an environment of its own: it is too large for the project's."""

import json
import subprocess
import venv
from pathlib import Path

import pytest

from tests.system.server import server

PLUGIN = "livekit-plugins-openai==1.8.9"
INSTALL_SECONDS = 900


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("livekit")
    venv.create(folder, with_pip=True)
    found = folder / "bin" / "python"
    subprocess.run([found, "-m", "pip", "install", "-q", PLUGIN], check=True, timeout=INSTALL_SECONDS)
    return found


@pytest.mark.slow
@pytest.mark.timeout(2 * INSTALL_SECONDS)
def test_the_plugin_hears_every_text(python: Path) -> None:
    script = Path(__file__).parent / "livekit" / "speak.py"
    with server("--engine", "espeak") as started:
        done = subprocess.run(
            [python, script, f"http://127.0.0.1:{started.port}/v1"], capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for name in ("pcm", "mp3", "by sentences"):
        assert found[name]["seconds"] > 0.8 and found[name]["loudest"] > 1000, (name, found)
    for name in ("pcm without sound", "mp3 without sound"):
        assert found[name]["seconds"] > 0.05 and found[name]["loudest"] < 100, (name, found)
