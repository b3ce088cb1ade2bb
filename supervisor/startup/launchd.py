"""A launchd agent: a property list in the user's own LaunchAgents (launchd.plist(5))."""

from __future__ import annotations

import math
import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers.expat import ExpatError

from supervisor.processes.children import KILL_GRACE
from supervisor.startup.log_file import VARIABLE
from supervisor.startup.manager import DEFAULT_NAME, Definition, Installed, Step

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
            "EnvironmentVariables": {"PATH": PROGRAMS, VARIABLE: log, **definition.environment},
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
