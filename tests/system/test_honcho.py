"""The Procfile under honcho: started, stopped and refused, with the exit statuses that a script can rely on."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests.system.server import DEADLINE, ROOT, all_gone


@contextmanager
def honcho(home: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """`honcho start`, with its output as text. The process that the Procfile starts takes its settings from
    variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KOKORO_LIVE_")}
    folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(home))
    settings = {"KOKORO_LIVE_PORT": "0", "KOKORO_LIVE_ENGINE": "espeak", "KOKORO_LIVE_OFFLINE": "1"}
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "honcho", "start"],
        cwd=ROOT,
        env=environment | folders | settings | path | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    try:
        yield process
    finally:
        for member in (
            [process, *psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []
        ):
            member.kill()
        process.wait(DEADLINE)
        process.stdout.close()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
def test_a_stop_drains_the_server_which_ends_with_0(number: int, status: int, tmp_path: Path) -> None:
    """1. it speaks; 2. honcho is told to stop; 3. the server ends with 0, honcho with the signal's own status."""
    family: list[psutil.Process] = []
    said = []
    with honcho(tmp_path) as manager:
        assert manager.stdout
        for line in manager.stdout:
            said.append(line)
            if "speaks on http://" in line:
                family = psutil.Process(manager.pid).children(recursive=True)
                manager.send_signal(number)
        assert family, "".join(said)
        assert manager.wait(DEADLINE) == status
    assert any(f"stopped (rc={ExitCode.OK:d})" in line for line in said), "".join(said)
    assert any("draining" in line for line in said)
    assert all_gone(family)


def test_a_port_that_is_taken_ends_honcho_with_the_servers_own_status(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        honcho(tmp_path, KOKORO_LIVE_PORT=str(taken.getsockname()[1])) as manager,
    ):
        said, _ = manager.communicate(timeout=DEADLINE)
        assert manager.returncode == ExitCode.PORT
    assert "--port" in said


@pytest.mark.slow
def test_kokoro_without_its_model_does_too(tmp_path: Path) -> None:
    with honcho(tmp_path, KOKORO_LIVE_ENGINE="kokoro", KOKORO_LIVE_PACKAGED_MODEL="0") as manager:
        said, _ = manager.communicate(timeout=DEADLINE)
        assert manager.returncode == ExitCode.ENGINE
    assert "models fetch" in said
