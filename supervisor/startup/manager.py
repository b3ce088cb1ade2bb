"""A server that starts at login: its definition, and what a service manager does for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import click

from kokoro_live import own_command
from shm.atomic import write_shared
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.options import CONFIG_FILE, variable

DEFAULT_NAME = "kokoro-live"

_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
"""Variables with the places of the config file, the models and the caches."""

_SUFFIX = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Definition:
    """A server to be started at login."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    """Present environment variables that the server needs: the environment at login differs."""
    drain_timeout: float
    """Seconds that the server's streams have to finish when it is stopped."""
    address: tuple[str, int]
    """Host and port on which the server listens."""
    notifies: bool = True
    """True if the command's own process tells the service manager how the server stands; honcho's doesn't."""


def service_name(suffix: str) -> str:
    """The service's name for a `--name`; without one, the usual name.

    Raises:
        ValueError: no name for a file.
    """
    if not suffix:
        return DEFAULT_NAME
    if not _SUFFIX.fullmatch(suffix):
        raise ValueError(f"--name takes letters, digits, dots, dashes and underscores, not {suffix!r}")
    return f"{DEFAULT_NAME}-{suffix}"


def define(name: str, arguments: list[str], environment: Mapping[str, str]) -> Definition:
    """The definition of `kokoro-live serve ARGUMENTS` with the present environment and folder.

    Raises:
        click.UsageError: `serve` wouldn't take that, or it means something else in another folder.
    """
    context = parse_settings(arguments)
    settings = Settings.given(context)
    _assert_absolute(context)
    ours = {*_FOLDERS, *(variable(str(param.name)) for param in context.command.params)}
    kept = {key: environment[key] for key in sorted(ours & environment.keys())}
    address = (settings.supervisor.plain_host, settings.supervisor.port)
    return Definition(name, tuple(own_command("serve", *arguments)), kept, settings.front.drain_timeout, address)


def with_procfile(definition: Definition, folder: Path) -> Definition:
    """The same server, started by honcho from the folder's Procfile; settings are those of the environment.

    Raises:
        ValueError: there is no Procfile, or no honcho in this installation.
    """
    procfile = folder / "Procfile"
    honcho = Path(sys.executable).parent / "honcho"
    if not procfile.is_file():
        raise ValueError(f"--with-procfile is for a clone of the repository: there is no {procfile}")
    if not honcho.is_file():
        raise ValueError(f"there is no {honcho}: `make run` installs it")
    command = (str(honcho), "-f", str(procfile), "-d", str(folder), "start")
    return replace(definition, command=command, notifies=False)


def _assert_absolute(context: click.Context) -> None:
    given = [click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT]
    paths = {"config": context.meta[CONFIG_FILE]} | context.params
    for name, value in paths.items():
        if isinstance(value, Path) and not value.is_absolute() and context.get_parameter_source(name) in given:
            raise click.UsageError(
                f"{name} must be a whole path, such as {Path.cwd() / value}: at login it is read elsewhere"
            )


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
        write_shared(path, content)
