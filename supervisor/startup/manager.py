"""A service manager, as far as starting servers at login is concerned."""

from __future__ import annotations

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
    """True if the step undoes something that may be absent."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A server that is defined on this machine to start at login."""

    name: str
    file: Path
    program: Path
    """The program that the service starts."""
    enabled: bool
    """True if the next login starts the server."""


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
        """The steps that start the server now, from the written files."""
        ...

    def stop(self, name: str) -> Sequence[Step]:
        """The steps that stop the server, while its files still exist."""
        ...

    def forget(self, name: str) -> Sequence[Step]:
        """The steps that make the manager notice that the files are removed, and stop the server if it still runs."""
        ...

    def installed(self) -> Sequence[Installed]: ...

    def logs(self) -> Sequence[Path]:
        """Log files of installed servers, also of former ones."""
        ...


def install(files: Mapping[Path, bytes], stale: Sequence[Path]) -> None:
    """Write the files, each whole or not at all and readable only by the user (they may have API keys), and remove
    stale ones.

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
