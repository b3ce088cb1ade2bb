"""The lists of commands of README and docs/trouble.md: each runs as it is written, next to a server and in a home of
its own."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.server import DEADLINE, ROOT, Server, server

LINES = [
    line.partition("  #")[0].strip()
    for line in (ROOT / "README.md").read_text().splitlines()
    if line.startswith((".venv/bin/", "curl "))
]
LINES += [
    f".venv/bin/{line.partition('  #')[0].strip()}"
    for line in (ROOT / "docs" / "trouble.md").read_text().splitlines()
    if line.startswith("kokoro-live ")
]
ELSEWHERE = {
    "tune": "tests/supervisor/tuning",
    "dequantize": "tests/supervisor/commands/test_dequantize_command.py",
    "install-service": "tests/supervisor/startup/test_install_service.py",
}
"""Commands that take minutes, the model in floats, or the user's own session, with the tests that run them."""


@pytest.fixture(scope="module")
def espeak() -> Iterator[Server]:
    with server("--engine", "espeak") as started:
        yield started


def whole(line: str) -> str:
    """The line with those that continue it."""
    return re.split(r"(?<!\\)\n", (ROOT / "README.md").read_text().partition(line)[2])[0]


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_it_runs_as_it_is_written(line: str, espeak: Server, tmp_path: Path) -> None:
    if named := next((word for word in line.split() if word in ELSEWHERE), None):
        assert (ROOT / ELSEWHERE[named]).exists()
        return
    if "ffplay" in line and shutil.which("ffplay") is None:
        pytest.skip("NOT TESTED, BECAUSE NOT INSTALLED: ffplay")
    folders = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    (tmp_path / "book.txt").write_text("A short book.")
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    command = (line.removesuffix("\\") + whole(line) if line.endswith("\\") else line).replace("\\\n", " ")
    command = command.partition("  #")[0].replace("localhost:8880", f"localhost:{espeak.port}")
    environment = os.environ | folders | {"KOKORO_LIVE_PORT": str(espeak.port), "SDL_AUDIODRIVER": "dummy"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("ffplay", "ffplay -nodisp -autoexit -loglevel error")],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    # `doctor` ends with 1 where something is to be mended, which a test's machine may have.
    assert done.returncode in ((0, 1) if "doctor" in command else (0,)), done.stderr
    assert done.stdout or done.stderr or [*tmp_path.glob("*.wav"), *tmp_path.glob("*.mp3")] or "mcp" in command


def test_all_commands_are_found() -> None:
    assert len(LINES) > 15 and LINES[0].startswith("curl ")
