"""The choice of this machine's service manager."""

from __future__ import annotations

import math
import os
import plistlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers.expat import ExpatError

import click

from supervisor.processes.children import KILL_GRACE
from supervisor.startup.manager import DEFAULT_NAME, Definition, Installed, Manager, Step
from supervisor.startup.service_manager import LOG_VARIABLE
from supervisor.startup.systemd import Systemd

LABEL_PREFIX = "local."
"""Labels are in reverse domain order; a label that belongs to no domain begins with local."""

THROTTLE = 30
"""Seconds between two starts. launchd can't exclude exit statuses from a restart, so the interval is long."""


PROGRAMS = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
"""PATH with Homebrew's folders, on Apple silicon and on Intel, before the four that launchd itself gives an agent."""


class Launchd:
    def __init__(self, home: Path, uid: int) -> None:
        self._agents = home / "Library" / "LaunchAgents"
        self._logs = home / "Library" / "Logs"
        self._domain = f"gui/{uid}"

    def files(self, definition: Definition, on_demand: bool) -> Mapping[Path, bytes]:
        if on_demand:
            raise ValueError("--socket is for systemd: launchd passes sockets in a way of its own")
        log = str(self._logs / f"{definition.name}.log")
        agent = {
            "Label": _label(definition.name),
            "ProgramArguments": list(definition.command),
            "EnvironmentVariables": {"PATH": PROGRAMS, LOG_VARIABLE: log, **definition.environment},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": THROTTLE,
            "ExitTimeOut": math.ceil(definition.drain_timeout + 2 * KILL_GRACE),
            "ProcessType": "Interactive",
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
        return {self._file(definition.name): plistlib.dumps(agent, sort_keys=False)}

    def all_files(self, name: str) -> Sequence[Path]:
        return [self._file(name)]

    def start(self, name: str) -> Sequence[Step]:
        return [*self.stop(name), Step(("launchctl", "bootstrap", self._domain, str(self._file(name))))]

    def stop(self, name: str) -> Sequence[Step]:
        return [Step(("launchctl", "bootout", f"{self._domain}/{_label(name)}"), may_fail=True)]

    def forget(self, name: str) -> Sequence[Step]:
        return self.stop(name)

    def installed(self) -> Sequence[Installed]:
        found = []
        for file in sorted(self._agents.glob(f"{LABEL_PREFIX}{DEFAULT_NAME}*.plist")):
            try:
                agent = plistlib.loads(file.read_bytes())
                program, at_login = Path(agent["ProgramArguments"][0]), bool(agent.get("RunAtLoad"))
            except (OSError, plistlib.InvalidFileException, ExpatError, LookupError, TypeError) as error:
                raise ValueError(f"{file} can't be read: {error}") from error
            found.append(Installed(file.stem.removeprefix(LABEL_PREFIX), file, program, at_login))
        return found

    def logs(self) -> Sequence[Path]:
        return sorted(self._logs.glob(f"{DEFAULT_NAME}*.log*"))

    def _file(self, name: str) -> Path:
        return self._agents / f"{_label(name)}.plist"


def _label(name: str) -> str:
    return f"{LABEL_PREFIX}{name}"


def manager(kind: str | None) -> Manager:
    """The manager `launchd` or `systemd`; None chooses this machine's.

    Raises:
        ValueError: this machine has neither.
    """
    if kind is None:
        kind = {"darwin": "launchd", "linux": "systemd"}.get(sys.platform)
    if kind == "launchd":
        return Launchd(Path.home(), os.getuid())
    if kind == "systemd":
        config = os.environ.get("XDG_CONFIG_HOME")
        return Systemd(Path(config) if config else Path.home() / ".config")
    raise ValueError("this machine has neither launchd nor systemd: see to it that `kokoro-live serve` is started")


manager_option = click.option(
    "--manager",
    "kind",
    type=click.Choice(["launchd", "systemd"]),
    help="The service manager to write files for.  [default: launchd on macOS, systemd on Linux]",
)

name_option = click.option(
    "--name", default="", help="For a second server on this machine: `--name kitchen` makes kokoro-live-kitchen of it."
)


NO_BUS = (
    "systemctl --user reaches no session of this user, as under su or sudo, or in a container. Log in as the user "
    "(over ssh, or with `machinectl shell USER@`), or have a session without a login: "
    "`sudo loginctl enable-linger USER`, then `export XDG_RUNTIME_DIR=/run/user/$(id -u)`"
)
"""The remedy if there is no user bus."""

_BUS_FAILURES = "connect to bus", "XDG_RUNTIME_DIR"


def lacks_bus(environment: Mapping[str, str]) -> bool:
    """True if systemd's user manager can't be reached from this process."""
    runtime = environment.get("XDG_RUNTIME_DIR")
    if runtime and any((Path(runtime) / socket).exists() for socket in ("bus", "systemd/private")):
        return False
    return "DBUS_SESSION_BUS_ADDRESS" not in environment


def shown(steps: Sequence[Step]) -> str:
    """The commands as lines for a shell."""
    return "\n".join(f"  {shlex.join(step.words)}{' || true' if step.may_fail else ''}" for step in steps)


def run(steps: Sequence[Step]) -> None:
    """Run the commands in order.

    Raises:
        click.ClickException: a command that may not fail has failed. The message has its last words, or the cure.
    """
    for step in steps:
        click.echo(f"$ {shlex.join(step.words)}")
        try:
            done = subprocess.run(step.words, capture_output=True, text=True)
        except OSError as error:
            raise click.ClickException(f"{step.words[0]} can't be run: {error.strerror}") from error
        if done.returncode and not step.may_fail:
            if any(failure in done.stderr for failure in _BUS_FAILURES):
                raise click.ClickException(f"{NO_BUS}. Then run the command again.")
            raise click.ClickException(f"{step.words[0]} failed with {done.returncode}: {done.stderr.strip()}")
