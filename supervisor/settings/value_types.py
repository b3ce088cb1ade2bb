"""Types of settings: texts on the command line, TOML's own types in a file."""

from __future__ import annotations

import math
import re
import typing
from dataclasses import Field
from pathlib import Path
from types import NoneType
from typing import Any, Literal

import click


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
