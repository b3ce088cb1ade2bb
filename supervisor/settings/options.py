"""Command-line options from dataclasses of settings: a flag, a `KOKORO_LIVE_*` variable and a TOML key for each."""

from __future__ import annotations

import os
import tomllib
import typing
from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar

import click
import platformdirs

from shm.setting import Group
from supervisor.settings.removed import is_removed, removed_line, without_removed
from supervisor.settings.value_types import Duration, Finite, List, Pairs, assert_types, toml_types

CONFIG_FILE = f"{__name__}.config_file"
"""Key in click's context for the file that `--config` or its variable names; None if neither does."""

_PREFIX = "KOKORO_LIVE_"
_REMOVED = f"{__name__}.removed"

Command = TypeVar("Command", bound=Callable[..., Any])


class SettingOption(click.Option):
    def __init__(self, *names: Any, group: Group, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group


class SettingsCommand(click.Command):
    """A command with options for settings. `--help` shows them by group, after the command's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args, lines = without_removed(args)
        removed_settings(ctx).extend(lines)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        for line in removed_settings(ctx):
            click.echo(line, err=True)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for group in (None, *Group):
            records = [each.get_help_record(ctx) for each in options if getattr(each, "group", None) is group]
            if shown := [record for record in records if record]:
                with formatter.section(group.value if group else "Options"):
                    formatter.write_dl(shown)


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
        lines.extend(removed_line(each, name) for each, name in variables.items() if is_removed(name))
        chosen = path or default_config_file()
        if path is None and not chosen.is_file():
            return
        try:
            values = tomllib.loads(chosen.read_text())
        except (OSError, ValueError) as error:
            raise click.UsageError(f"{chosen} can't be read: {error}") from error
        removed = [name for name in values if is_removed(name)]
        lines.extend(removed_line(str(chosen), name) for name in removed)
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
