"""A systemd user unit (systemd.service(5)), and the socket unit that starts it on demand (systemd.socket(5))."""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from shm.listeners import BACKLOG
from supervisor.processes.children import KILL_GRACE
from supervisor.processes.standing import SETTLED
from supervisor.startup.manager import DEFAULT_NAME, Definition, Installed, Step

START_SECONDS = 300
"""Seconds in which the first engine must load."""

WATCHDOG_SECONDS = 60
"""Seconds without an answer after which the front counts as hanging."""

_NOTIFIES = f"""\
Type=notify
NotifyAccess=main
ExecReload=kill -HUP $MAINPID
WatchdogSec={WATCHDOG_SECONDS}
"""
_SILENT = """\
Type=exec
SuccessExitStatus=143
"""
"""The part for honcho, which passes SIGTERM on to the server and exits with its number; SIGHUP would end it."""

_HARDENING = """\
NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
SystemCallArchitectures=native
UMask=0077
"""
"""Restrictions that a user's own manager can apply without privileges. RestrictRealtime= isn't one, because the player
asks for real-time scheduling (`player.process`). Read-only folders would need user namespaces,
which many distributions deny to users; a ban on memory that becomes executable would stop libraries that compile at run
time."""


class Systemd:
    def __init__(self, config_home: Path) -> None:
        self._units = config_home / "systemd" / "user"

    def files(self, definition: Definition, on_demand: bool) -> Mapping[Path, bytes]:
        name = definition.name
        files = {self._units / f"{name}.service": service_unit(definition, on_demand).encode()}
        if on_demand:
            files[self._units / f"{name}.socket"] = socket_unit(definition).encode()
        return files

    def all_files(self, name: str) -> Sequence[Path]:
        return [*self._unit_files(name), *self._links(name)]

    def start(self, name: str) -> Sequence[Step]:
        unit = f"{name}.socket" if (self._units / f"{name}.socket").exists() else f"{name}.service"
        return [
            _step("daemon-reload"),
            _step("enable", unit),
            _step("stop", f"{name}.service"),  # a running service holds its port, so the socket unit can't open it
            _step("restart", unit),
        ]

    def stop(self, name: str) -> Sequence[Step]:
        present = [file.name for file in self._unit_files(name) if file.exists()]
        return [_step("disable", "--now", *present)] if present else []

    def forget(self, name: str) -> Sequence[Step]:
        return [_step("stop", f"{name}.socket", f"{name}.service", may_fail=True), _step("daemon-reload")]

    def installed(self) -> Sequence[Installed]:
        found = []
        for file in sorted(self._units.glob(f"{DEFAULT_NAME}*.service")):
            program = re.search(r'^ExecStart="([^"]*)"', file.read_text(errors="replace"), re.MULTILINE)
            if program is None:
                raise ValueError(f"{file} has no ExecStart= as install-service writes it")
            enabled = any(link.is_symlink() for link in self._links(file.stem))
            found.append(Installed(file.stem, file, Path(program[1].replace("%%", "%")), enabled))
        return found

    def logs(self) -> Sequence[Path]:
        return []  # the journal has them

    def _unit_files(self, name: str) -> list[Path]:
        return [self._units / f"{name}.service", self._units / f"{name}.socket"]

    def _links(self, name: str) -> list[Path]:
        return [
            self._units / "default.target.wants" / f"{name}.service",
            self._units / "sockets.target.wants" / f"{name}.socket",
        ]


def service_unit(definition: Definition, on_demand: bool) -> str:
    """
    Raises:
        ValueError: the interpreter's path is one that systemd doesn't take.
    """
    name = definition.name
    ties = f"Requires={name}.socket\nAfter={name}.socket\n" if on_demand else ""
    # The socket unit is enabled in place of the service unit.
    install = "" if on_demand else "\n[Install]\nWantedBy=default.target\n"
    variables = "".join(
        f"Environment={quoted(f'{variable}={value}')}\n" for variable, value in definition.environment.items()
    )
    # The supervisor replaces workers that the kernel kills for memory: OOMPolicy=continue.
    return f"""\
[Unit]
Description=kokoro-live, a speech server ({name})
StartLimitIntervalSec=300
StartLimitBurst=5
{ties}
[Service]
{_NOTIFIES if definition.notifies else _SILENT}ExecStart={command_line(definition.command)}
{variables}TimeoutStartSec={START_SECONDS}
TimeoutStopSec={math.ceil(definition.drain_timeout + 2 * KILL_GRACE)}
KillMode=mixed
OOMPolicy=continue
Restart=on-failure
RestartSec=2
RestartPreventExitStatus={" ".join(str(int(code)) for code in SETTLED)}
{_HARDENING}{install}"""


def socket_unit(definition: Definition) -> str:
    """The socket unit: the manager listens, and the first connection starts the service, which is given the socket.

    Raises:
        ValueError: the host isn't one of this machine's addresses.
    """
    host, port = definition.address
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise ValueError(f"{host} can't be listened on: {error.strerror}") from error
    if port == 0:
        raise ValueError("--socket needs a port that clients know: give one with --port")
    shown = f"[{address[0]}]" if family == socket.AF_INET6 else address[0]
    return f"""\
[Unit]
Description=kokoro-live's socket ({definition.name})

[Socket]
ListenStream={shown}:{port}
FileDescriptorName=http
Backlog={BACKLOG}

[Install]
WantedBy=sockets.target
"""


def command_line(words: Sequence[str]) -> str:
    """The command as `ExecStart=` takes it.

    Raises:
        ValueError: a program whose path systemd doesn't take, however it is written.
    """
    program, *arguments = words
    if any(character in "\"'\\" or not character.isprintable() for character in program):
        raise ValueError(f"systemd starts no program whose path has quotes or backslashes: {program}")
    return " ".join([quoted(program), *(quoted(argument).replace("$", "$$") for argument in arguments)])


def quoted(word: str) -> str:
    """One word of a unit file, quoted for any content: no specifier (%) is expanded, and it stays one word."""
    escapes = {"\\": "\\\\", '"': '\\"', "%": "%%", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return f'"{"".join(escapes.get(character, character) for character in word)}"'


def _step(*words: str, may_fail: bool = False) -> Step:
    return Step(("systemctl", "--user", *words), may_fail)
