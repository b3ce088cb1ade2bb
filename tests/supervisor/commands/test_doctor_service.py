"""`kokoro-live doctor` on what else runs on the machine, and on what starts at login."""

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from supervisor.cli import kokoro_live
from supervisor.commands.checks import machine
from supervisor.commands.checks.finding import Circumstances, Severity
from supervisor.commands.checks.machine import service
from supervisor.settings.composition import Settings
from supervisor.startup import managers
from tests.supervisor.clean_environment import clean_environment
from tests.system.server import server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with clean_environment(tmp_path, monkeypatch):
        yield tmp_path


def circumstances(**values: object) -> Circumstances:
    return Circumstances(Settings.of(values), Path("config.toml"), "")


def test_who_has_the_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = machine.port(circumstances(port=taken.getsockname()[1]))
    assert found.verdict is Severity.WRONG
    assert f"(pid {os.getpid()})" in found.found


def test_other_servers_are_seen_with_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with server("--engine", "espeak") as one:
        (own,) = (process for process in machine.supervisors() if process.pid == one.process.pid)
        monkeypatch.setattr(machine, "supervisors", lambda: iter([own, own]))
        found = machine.other_servers(circumstances())
    assert found.verdict is Severity.WARNING
    assert found.found.count(f"pid {one.process.pid} on 127.0.0.1:{one.port}") == 2


def test_one_server_is_no_cause_for_concern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "supervisors", lambda: iter([psutil.Process()]))
    assert machine.other_servers(circumstances()).verdict is Severity.OK


def installed(kind: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    result = CliRunner().invoke(kokoro_live, ["install-service", "--manager", kind, *arguments])
    assert result.exit_code == 0, result.output
    found = managers.manager(kind)
    monkeypatch.setattr("supervisor.commands.checks.machine.manager", lambda _: found)


def test_a_launchd_agent_starts_at_login(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("launchd", monkeypatch)
    found = service(circumstances())
    assert (found.verdict, found.found) == (Severity.OK, "kokoro-live starts at login")


def test_a_unit_that_is_not_enabled_does_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("systemd", monkeypatch, "--name", "kitchen")
    found = service(circumstances())
    assert found.verdict is Severity.WARNING
    assert found.cure == "kokoro-live install-service --name kitchen --now"
    units = home / "systemd" / "user"
    (units / "default.target.wants").mkdir()
    (units / "default.target.wants" / "kokoro-live-kitchen.service").symlink_to(units / "kokoro-live-kitchen.service")
    assert service(circumstances()).verdict is Severity.OK


@pytest.mark.parametrize("kind", ["launchd", "systemd"])
def test_a_program_that_is_gone_is_wrong(kind: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual environment that was removed or moved."""
    python = home / "100% venv" / "python"
    python.parent.mkdir()
    shutil.copy("/bin/sh", python)
    monkeypatch.setattr("sys.executable", str(python))
    installed(kind, monkeypatch)
    assert service(circumstances()).verdict is not Severity.WRONG
    python.unlink()
    found = service(circumstances())
    assert found.verdict is Severity.WRONG
    assert str(python) in found.found


@pytest.mark.parametrize(
    ("kind", "file"),
    [("launchd", "Library/LaunchAgents/local.kokoro-live.plist"), ("systemd", "systemd/user/kokoro-live.service")],
)
def test_a_file_that_somebody_broke_is_found(kind: str, file: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(kind, monkeypatch)
    (home / file).write_text("<plist>broken")
    found = service(circumstances())
    assert found.verdict is Severity.WARNING
    assert file in found.found
