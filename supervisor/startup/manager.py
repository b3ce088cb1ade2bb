"""The service manager of this machine, as far as starting at login goes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from supervisor.startup.definition import Definition


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the service manager's own tool."""

    words: tuple[str, ...]
    may_fail: bool = False
    """The step undoes something that may not be there."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A server that is defined here to start at login."""

    name: str
    file: Path
    program: Path
    """The program that is started."""
    enabled: bool
    """The next login starts it."""


class Manager(Protocol):
    """launchd or systemd."""

    def files(self, definition: Definition, on_demand: bool) -> Mapping[Path, bytes]:
        """The files to write. `on_demand`: the manager listens, and starts the server for its first client.

        Raises:
            ValueError: it can't do that; the message says why.
        """
        ...

    def all_files(self, name: str) -> Sequence[Path]:
        """All files that may have been written for that name, or made by enabling it."""
        ...

    def start(self, name: str) -> Sequence[Step]:
        """Start it now, with what was written."""
        ...

    def stop(self, name: str) -> Sequence[Step]:
        """Stop it, while its files are still there."""
        ...

    def forget(self, name: str) -> Sequence[Step]:
        """Notice that its files are gone, and stop it if nobody has."""
        ...

    def installed(self) -> Sequence[Installed]: ...


def manager(kind: str | None) -> Manager:
    """`launchd` or `systemd`; None: this machine's.

    Raises:
        ValueError: this machine has neither.
    """
    from supervisor.startup.launchd import Launchd
    from supervisor.startup.systemd import Systemd

    if kind is None:
        kind = {"darwin": "launchd", "linux": "systemd"}.get(sys.platform)
    if kind == "launchd":
        return Launchd(Path.home(), os.getuid())
    if kind == "systemd":
        config = os.environ.get("XDG_CONFIG_HOME")
        return Systemd(Path(config) if config else Path.home() / ".config")
    raise ValueError("this machine has neither launchd nor systemd: see to it that `kokoro-live serve` is started")


def install(files: Mapping[Path, bytes], stale: Sequence[Path]) -> None:
    """Write them, each whole or not at all and for nobody else to read (they may have API keys), and remove the stale.

    Raises:
        OSError: a folder can't be made, or a file not written.
    """
    for path in stale:
        if path not in files:
            path.unlink(missing_ok=True)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as draft:
            draft.write(content)
        Path(draft.name).replace(path)
