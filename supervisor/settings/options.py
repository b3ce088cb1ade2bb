"""Command-line options from settings dataclasses: a flag, a `KOKORO_LIVE_*` variable and a TOML key for each field."""

from __future__ import annotations

import re
import tomllib
import typing
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar

import click
import platformdirs

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
        names = {field.name for kind in kinds for field in fields(kind)}
        return _config_option(names)(command)

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
        return _Duration()
    if field.metadata.get("pairs"):
        return _Pairs()
    separator = field.metadata.get("separator")
    return _List(separator) if separator else None


def _kind(hint: Any) -> Any:
    """click's type for an annotation; None if click finds the type itself, as for a flag."""
    options = [kind for kind in typing.get_args(hint) if kind is not NoneType]
    if typing.get_origin(hint) is Literal:
        return click.Choice(options)
    kind = options[0] if options else hint
    return {bool: None, Path: click.Path(path_type=Path)}.get(kind, kind)


class _Duration(click.ParamType[float]):
    """Seconds, as a number or with a unit: 900, 900s, 15m, 2h, 1d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        match = _DURATION.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no duration; give seconds, or a number with s, m, h or d: 900, 15m", param, ctx)
        return float(match["number"]) * _SECONDS[match["unit"]]


_DURATION = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>[smhd]?)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class _List(click.ParamType[tuple[str, ...]]):
    """Texts with a separator between them; in a file also a list of texts."""

    name = "list"

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        parts = value.split(self._separator) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            self.fail(f"give texts, with {self._separator!r} between them", param, ctx)
        return tuple(part.strip() for part in parts if part.strip())


class _Pairs(click.ParamType[tuple[str, ...]]):
    """`KEY=VALUE` pairs with commas between, which values may contain too; in a file also a list, or a table."""

    name = "KEY=VALUE,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, str):
            value = _BETWEEN_PAIRS.split(value)
        elif isinstance(value, dict):
            # The text of a bool would be a guess: some providers want True, some true, some 1.
            if wrong := [key for key, each in value.items() if type(each) not in (str, int)]:
                self.fail(f"{', '.join(wrong)}: give a text or a whole number", param, ctx)
            value = [f"{key}={each}" for key, each in value.items()]
        if not isinstance(value, list | tuple) or not all(isinstance(pair, str) for pair in value):
            self.fail("give KEY=VALUE, with commas between, or a table", param, ctx)
        return tuple(pair.strip() for pair in value if pair.strip())


_BETWEEN_PAIRS = re.compile(r",(?=\s*(?:\w+\s*=|,|$))")


def _config_option(names: set[str]) -> Callable[[Command], Command]:
    def read(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
        context.meta[CONFIG_FILE] = path
        chosen = path or default_config_file()
        if path is None and not chosen.is_file():
            return
        try:
            values = tomllib.loads(chosen.read_text())
        except (OSError, ValueError) as error:
            raise click.UsageError(f"{chosen} can't be read: {error}") from error
        if unknown := sorted(set(values) - names):
            raise click.UsageError(f"{chosen}: no such setting: {', '.join(unknown)}")
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
