"""Command-line options from settings dataclasses: a flag, a `KOKORO_LIVE_*` variable and a TOML key for each field."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar

import click
import platformdirs

from supervisor.settings.value_types import Duration, Finite, List, Pairs, assert_types, toml_types

CONFIG_FILE = f"{__name__}.config_file"
"""Key in click's context for the file that `--config` or its variable names; None if neither does."""

Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(*kinds: type[Any], reads: Collection[str] | None = None) -> Callable[[Command], Command]:
    """Give a command an option for each field of the dataclasses, and `--config FILE`.

    A flag wins over a variable, a variable over the file, the file over the default. A command that reads only some of
    a server's settings (`reads`, by field) has options for those; its file may have all of them.
    """

    def decorate(command: Command) -> Command:
        for kind in reversed(kinds):
            hints = typing.get_type_hints(kind)
            for field in reversed(fields(kind)):
                if reads is not None and field.name not in reads:
                    continue
                command = click.option(*_names(field), **_attributes(field, hints[field.name]))(command)
        hints = {name: hint for kind in kinds for name, hint in typing.get_type_hints(kind).items()}
        return _config_option({f.name: toml_types(f, hints[f.name]) for k in kinds for f in fields(k)})(command)

    return decorate


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"KOKORO_LIVE_{name.upper()}"


def default_config_file() -> Path:
    """The file that is read if it exists, unless `--config` names another."""
    return platformdirs.user_config_path("kokoro-live", appauthor=False) / "config.toml"


def _names(field: Field[Any]) -> tuple[str, ...]:
    flag = field.name.replace("_", "-")
    is_flag = field.type in (bool, "bool")
    return (f"--{flag}/--no-{flag}" if is_flag else f"--{flag}", field.name)


def _attributes(field: Field[Any], hint: Any) -> dict[str, Any]:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return {
        "type": (kind := _written(field)) or _kind(hint),
        "multiple": typing.get_origin(hint) is tuple and not kind,
        "default": default,
        "show_default": default not in (None, "", ()),
        "envvar": variable(field.name),
        "show_envvar": True,
        "help": field.metadata["help"],
    }


def _written(field: Field[Any]) -> click.ParamType[Any] | None:
    """click's type for a list of texts in one string, or for a duration; None for any other setting."""
    if field.metadata.get("duration"):
        return Duration()
    if field.metadata.get("pairs"):
        return Pairs()
    separator = field.metadata.get("separator")
    return List(separator) if separator else None


def _kind(hint: Any) -> Any:
    """click's type for an annotation; None if click finds the type itself, as for a flag."""
    options = [kind for kind in typing.get_args(hint) if kind is not NoneType]
    if typing.get_origin(hint) is Literal:
        return click.Choice(options)
    kind = options[0] if options else hint
    return {bool: None, Path: click.Path(path_type=Path), float: Finite()}.get(kind, kind)


def _config_option(types: dict[str, tuple[type, ...]]) -> Callable[[Command], Command]:
    def read(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
        context.meta[CONFIG_FILE] = path
        chosen = path or default_config_file()
        if path is None and not chosen.is_file():
            return
        try:
            values = tomllib.loads(chosen.read_text())
        except (OSError, ValueError) as error:
            raise click.UsageError(f"{chosen} can't be read: {error}") from error
        if unknown := sorted(set(values) - set(types)):
            raise click.UsageError(f"{chosen}: no such setting: {', '.join(unknown)}")
        assert_types(chosen, values, types)
        context.default_map = values

    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        envvar=variable("config"),
        is_eager=True,
        expose_value=False,
        callback=read,
        help=f"A TOML file of these settings, with underscores for dashes.  [default: {default_config_file()}]",
    )
