"""Every setting with values of every type, in a file and as a flag: refused in one line that names it, or taken as it
is written, and alike by `serve` and by `doctor`."""

import dataclasses
import math
import tomllib
import typing
from pathlib import Path
from typing import Any

import click
import pytest

from supervisor.commands.doctor import doctor
from supervisor.commands.serve import serve
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_of
from supervisor.settings.profile import tuned_settings

FIELDS = [field for kind in KINDS for field in settings_of(kind)]
HINTS = {name: hint for kind in KINDS for name, hint in typing.get_type_hints(kind).items()}

TOML = {
    "bool": ("true", "false"),
    "int": ("1", "-1", "0", "70000", "999999999999999999999"),
    "float": ("18511.5", "1e9", "-0.5", "nan", "-nan", "inf", "-inf"),
    "str": ('""', '"1"', '"no such thing"', '"\\u0000"', '"/dev/null/below"', f'"{"9" * 5000}"'),
    "list": ("[]", "[1]", '["a"]', "[[]]", "[true]", "[nan]", "[{}]"),
    "dict": ("{}", "{a = 1}", "{a = []}"),
    "time": ("1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"),
}
ALL = [(kind, value) for kind, values in TOML.items() for value in values]
FLAGS = ("", "1", "-1", "nan", "inf", "1e9", "true", "no such thing", "/dev/null/below", "9" * 5000, "\udc80")


def refusal(command: click.Command, arguments: list[str]) -> tuple[str, Settings | None]:
    """The reason for which a command refuses its arguments, and the settings if it takes them."""
    try:
        context = command.make_context(str(command.name), list(arguments))
        if error := context.meta.get("supervisor.commands.doctor.config_error"):
            return error, None
        return "", tuned_settings(context).settings
    except click.ClickException as error:
        return error.format_message(), None
    except ValueError as error:
        return str(error), None


def value_of(settings: Settings, name: str) -> Any:
    parts = (getattr(settings, part.name) for part in dataclasses.fields(settings))
    return next(getattr(part, name) for part in parts if name in {field.name for field in dataclasses.fields(part)})


def assert_alike(name: str, arguments: list[str]) -> Settings | None:
    said, settings = refusal(serve, arguments)
    assert refusal(doctor, arguments) == (said, settings)
    assert settings or (name in said.replace("-", "_") and "\n" not in said), (name, arguments, said)
    return settings


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_value_in_a_file_has_its_settings_type(field: Any, tmp_path: Path) -> None:
    """The short form takes values of two types for each setting, all types among them."""
    place, types = FIELDS.index(field), list(TOML.values())
    for values in (types[place % len(types)], types[(place + 3) % len(types)]):
        check(field, values[place % len(values)], tmp_path)
    if HINTS[field.name] is float:
        check(field, "nan", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_value_in_a_file_and_as_a_flag(field: Any, tmp_path: Path) -> None:
    for _, value in ALL:
        check(field, value, tmp_path)
    for text in FLAGS:
        if HINTS[field.name] is not bool:
            assert_alike(field.name, [f"--{field.name.replace('_', '-')}", text])


def check(field: Any, value: str, folder: Path) -> None:
    config = folder / "config.toml"
    config.write_text(f"{field.name} = {value}\n")
    settings = assert_alike(field.name, ["--config", str(config)])
    if settings is None:
        return
    written, found = tomllib.loads(config.read_text())[field.name], value_of(settings, field.name)
    if isinstance(found, tuple):
        assert isinstance(written, str | list | dict)
    elif field.metadata.get("duration"):
        assert isinstance(written, str | int | float) and not isinstance(written, bool)
    elif isinstance(found, float):
        assert math.isfinite(found) and type(written) in (int, float) and found == float(written)
    elif isinstance(found, Path):
        assert found == Path(written)
    else:
        assert type(found) is type(written) and found == written
