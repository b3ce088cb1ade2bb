"""`kokoro-live install-service` and `uninstall-service`: what launchd and systemd are given, as they read it."""

import dataclasses
import os
import plistlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from supervisor.processes.standing import SETTLED
from supervisor.startup.manager import Definition
from supervisor.startup.managers import Launchd
from supervisor.startup.service_manager import LOG_VARIABLE
from supervisor.startup.systemd import Systemd, command_line
from tests import platforms
from tests.supervisor.clean_environment import clean_environment

ODD = ["/a b/100% h%n", 'quo"te', "it's", "back\\slash", "$HOME ${HOME} $$", "", ";", "@-:+!", "ünï — 声", "a=b", "#c"]
"""Arguments that a careless writer would have split, expanded or dropped."""

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: install the Debian package systemd"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with clean_environment(tmp_path, monkeypatch):
        monkeypatch.delenv("KOKORO_LIVE_PORT")
        yield tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(kokoro_live, arguments)


def run_well(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def unit(home: Path, name: str = "kokoro-live.service") -> Path:
    return home / "systemd" / "user" / name


def definition(*arguments: str, **environment: str) -> Definition:
    return Definition("kokoro-live", (sys.executable, *arguments), environment, 30.0, ("127.0.0.1", 8880))


def as_systemd_reads(folder: Path, *units: Path) -> dict[str, str]:
    """The findings of systemd's own check of those units; there must be none."""
    command = ["systemd-analyze", "verify", "--user", "--man=no", *map(str, units)]
    variables = os.environ | {"XDG_RUNTIME_DIR": str(folder)}
    judged = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert (judged.returncode, judged.stderr) == (0, "")
    told = subprocess.run(command, capture_output=True, text=True, env=variables | {"SYSTEMD_LOG_LEVEL": "debug"})
    accounts = told.stdout.split("-> Unit ")
    return {unit.name: next(text for text in accounts if text.startswith(f"{unit.name}:")) for unit in units}


@needs_systemd
def test_systemd_finds_nothing_wrong_with_what_is_installed(home: Path) -> None:
    run_well("install-service", "--manager", "systemd", "--", "--port", "9000", "--engine", "espeak")
    shown = as_systemd_reads(home, unit(home))["kokoro-live.service"]
    assert re.search(r"Type: notify\n", shown)
    assert re.search(r"NotifyAccess: main\n", shown)
    assert re.search(r"WatchdogSec: 1min\n", shown)
    assert re.search(r"Restart: on-failure\n", shown)
    assert "RestrictRealtime=" not in unit(home).read_text(), "the player asks for real-time scheduling"
    line = re.search(r"Command Line: (.*)", shown)
    assert line
    assert shlex.split(line[1]) == [
        sys.executable, "-P", "-m", "kokoro_live", "serve", "--port", "9000", "--engine", "espeak"
    ]  # fmt: skip


@needs_systemd
def test_systemd_finds_nothing_wrong_with_a_socket_that_starts_it(home: Path) -> None:
    run_well("install-service", "--manager", "systemd", "--socket", "--", "--port", "9000")
    read = as_systemd_reads(home, unit(home), unit(home, "kokoro-live.socket"))
    assert re.search(r"ListenStream: 127\.0\.0\.1:9000", read["kokoro-live.socket"])
    assert "WantedBy" not in unit(home).read_text(), "the socket is enabled in its stead"


@needs_systemd
def test_any_argument_and_variable_is_read_by_systemd_as_it_was_given(home: Path) -> None:
    value = " ".join(ODD)
    files = Systemd(home).files(definition(*ODD, KOKORO_LIVE_MODEL=value), on_demand=False)
    path = unit(home)
    path.parent.mkdir(parents=True)
    path.write_bytes(files[path])
    read = as_systemd_reads(home, path)[path.name]
    line, variable = re.search(r"Command Line: (.*)", read), re.search(r"Environment: (.*)", read)
    assert line and variable
    # It shows words as a shell takes them, which shlex doesn't wholly undo, and before `$$` has become `$`.
    words = [word.replace("\\$", "$").replace("$$", "$") for word in shlex.split(line[1])]
    assert words == [sys.executable, *ODD]
    assert variable[1] == f"KOKORO_LIVE_MODEL={value}"


@needs_systemd
def test_a_program_in_a_folder_with_spaces_percents_and_dollars_is_found(home: Path) -> None:
    program = home / "100% a b $HOME" / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    systemd = Systemd(home)
    odd = dataclasses.replace(definition(), command=(str(program),))
    unit(home).parent.mkdir(parents=True)
    unit(home).write_bytes(systemd.files(odd, on_demand=False)[unit(home)])
    as_systemd_reads(home, unit(home))
    assert [found.program for found in systemd.installed()] == [program]


def test_a_program_that_systemd_would_not_start_is_refused() -> None:
    with pytest.raises(ValueError, match="quotes or backslashes"):
        command_line(['/odd"place/python'])


def test_systemd_starts_again_only_where_that_can_help(home: Path) -> None:
    run_well("install-service", "--manager", "systemd")
    (line,) = re.findall(r"RestartPreventExitStatus=(.*)", unit(home).read_text())
    assert {int(code) for code in line.split()} == set(SETTLED) == {2, 3, 4}


def test_a_stop_has_time_to_drain(home: Path) -> None:
    run_well("install-service", "--manager", "systemd", "--", "--drain-timeout", "120")
    (seconds,) = re.findall(r"TimeoutStopSec=(\d+)", unit(home).read_text())
    assert int(seconds) > 120
    run_well("install-service", "--manager", "launchd", "--", "--drain-timeout", "120")
    assert agent(home)["ExitTimeOut"] > 120


def agent(home: Path, label: str = "local.kokoro-live") -> dict[str, object]:
    return plistlib.loads((home / "Library" / "LaunchAgents" / f"{label}.plist").read_bytes())


def test_launchd_is_given_an_agent_that_starts_at_login_and_after_failures(home: Path, monkeypatch) -> None:
    monkeypatch.setenv("KOKORO_LIVE_API_KEYS", "a<b&c")
    run_well("install-service", "--manager", "launchd", "--", "--engine", "espeak")
    written = agent(home)
    assert written["Label"] == "local.kokoro-live"
    assert written["RunAtLoad"] is True
    assert written["KeepAlive"] == {"SuccessfulExit": False}
    assert written["ProcessType"] == "Interactive"
    assert written["ThrottleInterval"]
    assert written["ProgramArguments"] == [sys.executable, "-P", "-m", "kokoro_live", "serve", "--engine", "espeak"]
    assert written["EnvironmentVariables"]["KOKORO_LIVE_API_KEYS"] == "a<b&c"
    assert written["StandardErrorPath"] == str(home / "Library/Logs/kokoro-live.log")


def test_launchd_reads_any_argument_as_it_was_given(tmp_path: Path) -> None:
    (content,) = Launchd(tmp_path, 501).files(definition(*ODD, A="<&>"), on_demand=False).values()
    read = plistlib.loads(content)
    assert read["ProgramArguments"] == [sys.executable, *ODD]
    assert read["EnvironmentVariables"]["A"] == "<&>"


DOCUMENTED = {
    "Label": str,
    "ProgramArguments": list,
    "EnvironmentVariables": dict,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": str,
    "StandardOutPath": str,
    "StandardErrorPath": str,
}
"""Keys of an agent and their types, as launchd.plist(5) has them."""


def test_an_agent_has_documented_keys_and_finds_homebrews_programs(tmp_path: Path) -> None:
    (content,) = Launchd(tmp_path, 501).files(definition(A="b"), on_demand=False).values()
    read = plistlib.loads(content)
    assert {key: type(value) for key, value in read.items()} == DOCUMENTED
    assert read["KeepAlive"].keys() <= {"SuccessfulExit", "Crashed", "PathState", "OtherJobEnabled"}
    assert read["ProcessType"] in {"Background", "Standard", "Adaptive", "Interactive"}
    variables = read["EnvironmentVariables"]
    assert all(type(value) is str for value in (*variables.values(), *read["ProgramArguments"]))
    assert variables["PATH"].split(":")[:3] == ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"]
    assert variables[LOG_VARIABLE] == read["StandardErrorPath"] == read["StandardOutPath"]


def test_what_is_installed_serves(home: Path) -> None:
    """The command that is written is one that `serve` takes, in any folder."""
    run_well("install-service", "--manager", "launchd", "--", "--port", "9001")
    command = [*agent(home)["ProgramArguments"], "--help-all"]
    shadow = home / "supervisor"
    shadow.mkdir()
    (shadow / "__init__.py").write_text("raise SystemExit('the wrong one')")
    shown = subprocess.run(command, cwd=home, capture_output=True, text=True, check=True).stdout
    assert "--drain-timeout" in shown


def test_nobody_else_can_read_what_may_hold_keys(home: Path) -> None:
    run_well("install-service", "--manager", "systemd")
    assert stat.S_IMODE(unit(home).stat().st_mode) == 0o600


def test_printing_writes_nothing(home: Path) -> None:
    printed = run_well("install-service", "--manager", "systemd", "--print", "--socket", "--", "--port", "9000")
    assert "ExecStart=" in printed
    assert "ListenStream=127.0.0.1:9000" in printed
    assert not list(home.iterdir())


def test_installing_again_replaces_what_was_there(home: Path) -> None:
    run_well("install-service", "--manager", "systemd", "--socket")
    run_well("install-service", "--manager", "systemd", "--", "--port", "9002")
    assert [path.name for path in unit(home).parent.iterdir()] == ["kokoro-live.service"]
    assert '"9002"' in unit(home).read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "--port", "99999"], "port must be 0 to 65535"),
        (["--", "--no-such-flag"], "No such option"),
        (["--", "--model", "model.onnx"], "whole path"),
        (["--name", "a/b"], "--name takes"),
        (["--manager", "launchd", "--socket"], "--socket is for systemd"),
        (["--manager", "systemd", "--socket", "--", "--port", "0"], "a port that clients know"),
        (["--manager", "systemd", "--socket", "--", "--host", "no.such.host.invalid"], "can't be listened on"),
    ],
)
def test_what_would_fail_at_login_fails_now(arguments: list[str], said: str, home: Path) -> None:
    result = run("install-service", *arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert not list(home.iterdir())


def test_a_path_in_a_variable_must_be_whole_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    (home / "c.toml").write_text("")
    monkeypatch.setenv("KOKORO_LIVE_CONFIG", "c.toml")
    assert "whole path" in run("install-service", "--print").output
    monkeypatch.setenv("KOKORO_LIVE_CONFIG", str(home / "c.toml"))
    assert f"KOKORO_LIVE_CONFIG={home}/c.toml" in run_well("install-service", "--manager", "systemd", "--print")


@pytest.fixture
def tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """systemctl and launchctl that write down what they were told; the file in which they do."""
    told = home / "told"
    for name in ("systemctl", "launchctl"):
        tool = home / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >> "{told}"\ntest "$1" != bootout\n')
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)
    return told


def test_nothing_is_run_unasked(tools: Path) -> None:
    said = run_well("install-service", "--manager", "systemd")
    assert "systemctl --user enable kokoro-live.service" in said
    assert "systemctl --user stop" in run_well("uninstall-service", "--manager", "systemd")
    assert not tools.exists()


def test_now_starts_it_and_stops_it(tools: Path, home: Path) -> None:
    run_well("install-service", "--manager", "systemd", "--now")
    assert tools.read_text().splitlines()[-1] == "systemctl --user restart kokoro-live.service"
    link = home / "systemd/user/default.target.wants/kokoro-live.service"
    link.parent.mkdir()
    link.symlink_to(unit(home))
    run_well("uninstall-service", "--manager", "systemd", "--now")
    assert "systemctl --user disable --now kokoro-live.service" in tools.read_text()
    assert tools.read_text().splitlines()[-1] == "systemctl --user daemon-reload"
    assert not [path for path in (home / "systemd").rglob("*") if not path.is_dir()]


def test_now_starts_a_launchd_agent_also_where_none_ran(tools: Path, home: Path) -> None:
    """`launchctl bootout` fails where there is nothing to take out."""
    run_well("install-service", "--manager", "launchd", "--now")
    assert re.search(r"launchctl bootstrap gui/\d+ .*local\.kokoro-live\.plist", tools.read_text())
    run_well("uninstall-service", "--manager", "launchd", "--now")
    assert not list((home / "Library/LaunchAgents").iterdir())


def test_a_tool_that_fails_is_a_clear_error(tools: Path, home: Path) -> None:
    (home / "bin" / "systemctl").write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    result = run("install-service", "--manager", "systemd", "--now")
    assert result.exit_code == 1
    assert "no bus" in result.output


def test_without_a_user_bus_the_cure_is_said(tools: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment has no session bus, as under su or sudo, and in a container."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert "loginctl enable-linger" in run_well("install-service", "--manager", "systemd").split("These fail")[1]
    (home / "bin" / "systemctl").write_text("#!/bin/sh\necho Failed to connect to bus: No medium found >&2\nexit 1\n")
    result = run("install-service", "--manager", "systemd", "--now")
    assert result.exit_code == 1
    assert "loginctl enable-linger" in result.output and "XDG_RUNTIME_DIR=/run/user" in result.output
    runtime = home / "runtime"
    runtime.mkdir()
    (runtime / "bus").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert "These fail" not in run_well("install-service", "--manager", "systemd")


@needs_systemd
@platforms.linux_only("systemd is Linux's")
def test_the_procfile_under_honcho_starts_at_login(home: Path) -> None:
    run_well("install-service", "--with-procfile")
    as_systemd_reads(home, unit(home))
    lines = unit(home).read_text().splitlines()
    (start,) = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    honcho, *arguments = shlex.split(start)
    assert Path(honcho) == Path(sys.executable).parent / "honcho"
    checked = subprocess.run([honcho, *arguments[:-1], "check"], capture_output=True, text=True)
    assert (checked.returncode, "server" in checked.stderr) == (0, True), checked.stderr
    assert arguments[-1] == "start"
    assert not [line for line in lines if line.startswith(("WatchdogSec", "ExecReload"))], "honcho knows neither"


def test_the_procfile_under_honcho_is_an_agent_too(home: Path) -> None:
    run_well("install-service", "--with-procfile", "--manager", "launchd")
    (agent,) = home.rglob("*.plist")
    assert plistlib.loads(agent.read_bytes())["ProgramArguments"][-1] == "start"


@pytest.mark.parametrize("arguments", [("--socket",), ("--", "--port", "9")])
def test_the_procfile_takes_neither_options_nor_a_socket(home: Path, arguments: tuple[str, ...]) -> None:
    assert "settings are variables" in run("install-service", "--with-procfile", *arguments).output


def test_two_servers_have_two_names(home: Path) -> None:
    run_well("install-service", "--manager", "systemd")
    run_well("install-service", "--manager", "systemd", "--name", "kitchen", "--", "--port", "9000")
    assert {found.name for found in Systemd(home).installed()} == {"kokoro-live", "kokoro-live-kitchen"}
    run_well("uninstall-service", "--manager", "systemd", "--name", "kitchen")
    assert {found.name for found in Systemd(home).installed()} == {"kokoro-live"}


def test_what_is_not_installed_cannot_be_removed(home: Path) -> None:
    result = run("uninstall-service", "--manager", "systemd")
    assert result.exit_code == 1
    assert "isn't installed" in result.output
