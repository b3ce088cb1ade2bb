"""Command-line options from dataclasses of settings: a flag, a `KOKORO_LIVE_*` variable and a TOML key for each.

The types of values stand below: texts on the command line, TOML's own types in a file.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
import typing
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar

import click
import platformdirs

from shm.setting import Group

CONFIG_FILE = f"{__name__}.config_file"
"""Key in click's context for the file that `--config` or its variable names; None if neither does."""

_PREFIX = "KOKORO_LIVE_"
_REMOVED = f"{__name__}.removed"

Command = TypeVar("Command", bound=Callable[..., Any])


class SettingOption(click.Option):
    def __init__(self, *names: Any, group: Group, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group


def settings_options(*kinds: type[Any], reads: Collection[str] | None = None) -> Callable[[Command], Command]:
    """Give a command an option for each setting of the dataclasses, and `--config FILE`.

    A flag wins over a variable, a variable over the file, the file over the default. A command that reads only some of
    a server's settings (`reads`, by field) has options for those; its file may have all of them.
    """

    def decorate(command: Command) -> Command:
        hints = {name: hint for kind in kinds for name, hint in typing.get_type_hints(kind).items()}
        settings = [field for kind in kinds for field in settings_of(kind)]
        for field in reversed(settings):
            if reads is None or field.name in reads:
                attributes = _attributes(field, hints[field.name])
                command = click.option(*_names(field), cls=SettingOption, **attributes)(command)
        return _config_option({field.name: toml_types(field, hints[field.name]) for field in settings})(command)

    return decorate


def settings_of(kind: type[Any]) -> Iterator[Field[Any]]:
    return (field for field in fields(kind) if "help" in field.metadata)


def removed_settings(context: click.Context) -> list[str]:
    """Lines about settings of earlier versions that a command was given."""
    lines: list[str] = context.meta.setdefault(_REMOVED, [])
    return lines


def variable(name: str) -> str:
    return f"{_PREFIX}{name.upper()}"


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
        "group": field.metadata["group"],
    }


def _written(field: Field[Any]) -> click.ParamType[Any] | None:
    """click's type for a list of texts in one string, or for a duration; None for any other setting."""
    if field.metadata["duration"]:
        return Duration()
    if field.metadata["pairs"]:
        return Pairs()
    separator = field.metadata["separator"]
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
        lines = removed_settings(context)
        variables = {each: each.removeprefix(_PREFIX).lower() for each in os.environ if each.startswith(_PREFIX)}
        lines.extend(_removed_line(each, name) for each, name in variables.items() if is_removed(name))
        lines.extend(_foreign_lines(os.environ, types))
        chosen = path or default_config_file()
        if path is None and not chosen.is_file():
            return
        try:
            values = tomllib.loads(chosen.read_text())
        except (OSError, ValueError, RecursionError) as error:
            raise click.UsageError(f"{chosen} can't be read: {error}") from error
        removed = [name for name in values if is_removed(name)]
        lines.extend(_removed_line(str(chosen), name) for name in removed)
        values = {name: value for name, value in values.items() if name not in removed}
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


def toml_types(field: Field[Any], hint: Any) -> tuple[type, ...]:
    """The types that a setting may have in a file: TOML's own, so that `port = true` isn't port 1."""
    if field.metadata.get("duration"):
        return (int, float, str)
    if field.metadata.get("pairs"):
        return (str, list, dict)
    if field.metadata.get("separator"):
        return (str, list)
    kind = next((kind for kind in typing.get_args(hint) if kind is not NoneType), hint)
    if typing.get_origin(hint) is not Literal and kind in (bool, int):
        return (kind,)
    return (int, float) if kind is float else (str,)


_TOML_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    list: "a list of texts",
    dict: "a table",
}


def assert_types(file: Path, values: dict[str, Any], types: dict[str, tuple[type, ...]]) -> None:
    """
    Raises:
        click.UsageError: values of another type than their settings'.
    """
    for name, value in values.items():
        if type(value) not in types[name]:
            kinds = [kind for kind in types[name] if kind is not int or float not in types[name]]
            wanted = " or ".join(_TOML_NAMES[kind] for kind in kinds)
            raise click.UsageError(f"{file}: {name} must be {wanted}, not {_TOML_NAMES.get(type(value), 'a time')}")
        if isinstance(value, str) and "\0" in value:
            raise click.UsageError(f"{file}: {name} must be a text without NUL")


class Finite(click.types.FloatParamType):
    """A number, neither infinite nor NaN: NaN is in every range, because all comparisons with it are false."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class Duration(click.ParamType[float]):
    """Seconds, as a number or with a unit: 900, 900s, 15m, 2h, 1d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return Finite().convert(value, param, ctx)
        match = _DURATION.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no duration; give seconds, or a number with s, m, h or d: 900, 15m", param, ctx)
        return float(match["number"]) * _SECONDS[match["unit"]]


_DURATION = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>[smhd]?)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class List(click.ParamType[tuple[str, ...]]):
    """Texts with a separator between them; in a file also a list of texts."""

    name = "list"

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        parts = value.split(self._separator) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            self.fail(f"give texts, with {self._separator!r} between them", param, ctx)
        return tuple(part.strip() for part in parts if part.strip())


class Pairs(click.ParamType[tuple[str, ...]]):
    """`KEY=VALUE` pairs with commas between, which values may contain too; in a file also a list, or a table."""

    name = "KEY=VALUE,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, str):
            value = _BETWEEN_PAIRS.split(value)
        elif isinstance(value, dict):
            # The text of a bool would be a guess: some providers want True, some true, some 1.
            if wrong := [key for key, each in value.items() if type(each) not in (str, int, float)]:
                self.fail(f"{', '.join(wrong)}: give a text or a number", param, ctx)
            value = [f"{key}={each}" for key, each in value.items()]
        if not isinstance(value, list | tuple) or not all(isinstance(pair, str) for pair in value):
            self.fail("give KEY=VALUE, with commas between, or a table", param, ctx)
        return tuple(pair.strip() for pair in value if pair.strip())


_BETWEEN_PAIRS = re.compile(r",(?=\s*(?:\w+\s*=|,|$))")


# What a start names in one line and does without: settings of earlier versions, and other servers' variables.

_OTHERS = "KOKORO_"
_RULE = "normalize_"


def is_removed(name: str) -> bool:
    return _replacement(name) is not None


def _replacement(name: str) -> str | None:
    """The words about what takes a removed setting's place, maybe ""; None if there is the setting, or never was."""
    if name.startswith(_RULE) and name not in ("normalize_without", "normalize_emoji_names"):
        return "--normalize-without lists the rules that are left out"  # each rule of normalisation had a switch
    with_a_value, switches = _table()["flags-with-a-value"], _table()["switches"]
    return with_a_value.get(name, switches.get(name))


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("removed.toml").read_text())


def _removed_line(place: str, name: str) -> str:
    """The line about a removed setting that stands at `place`: a file, a variable or a flag."""
    now = _replacement(name)
    return f"{place}: there is no setting {name} any more, and it is ignored{f'; {now}' if now else ''}"


def without_removed(arguments: Iterable[str]) -> tuple[list[str], list[str]]:
    """A command line without the flags of removed settings, and the lines about those."""
    kept: list[str] = []
    lines: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        flag, equals, _ = argument.partition("=")
        name = flag.removeprefix("--").removeprefix("no-").replace("-", "_")
        if not flag.startswith("--") or not is_removed(name):
            kept.append(argument)
            continue
        lines.append(_removed_line(flag, name))
        if left and not equals and name in _table()["flags-with-a-value"]:
            left.pop(0)
    return kept, lines


def _foreign_lines(variables: Iterable[str], settings: Collection[str]) -> Iterator[str]:
    """A line for each variable that another server of Kokoro's would read; `settings`: this server's, by name."""
    for foreign in sorted(variables):
        if not foreign.startswith(_OTHERS) or foreign.startswith(_PREFIX):
            continue
        name = foreign.removeprefix(_OTHERS).lower()
        found = _table()["others"].get(name, name)
        near = [found] if found in settings else difflib.get_close_matches(name, settings, 1, 0.75)
        yield f"{foreign} is not read here; " + (
            f"{variable(near[0])} or --{near[0].replace('_', '-')} is the setting"
            if near
            else "docs/coming-from.md and docs/settings.md have the settings"
        )
