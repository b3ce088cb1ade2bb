"""The definition of a server that starts at login, for any service manager."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from kokoro_live import own_command
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
    try:
        settings = Settings.of(context.params)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    _assert_absolute(context)
    ours = {*_FOLDERS, *(variable(str(param.name)) for param in context.command.params)}
    kept = {key: environment[key] for key in sorted(ours & environment.keys())}
    address = (settings.supervisor.host, settings.supervisor.port)
    return Definition(name, tuple(own_command("serve", *arguments)), kept, settings.front.drain_timeout, address)


def _assert_absolute(context: click.Context) -> None:
    given = [click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT]
    paths = {"config": context.meta[CONFIG_FILE]} | context.params
    for name, value in paths.items():
        if isinstance(value, Path) and not value.is_absolute() and context.get_parameter_source(name) in given:
            raise click.UsageError(
                f"{name} must be a whole path, such as {Path.cwd() / value}: at login it is read elsewhere"
            )
