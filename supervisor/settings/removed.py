"""Settings of earlier versions: a start that still has one goes on without it, and says so in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_RULE = "normalize_"
_RULES = "--normalize-without lists the rules that are left out"
_OF_TODAY = ("normalize_without", "normalize_emoji_names")


def is_removed(name: str) -> bool:
    return _replacement(name) is not None


def removed_line(place: str, name: str) -> str:
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
        lines.append(removed_line(flag, name))
        if left and not equals and name in _table()["flags-with-a-value"]:
            left.pop(0)
    return kept, lines


def _replacement(name: str) -> str | None:
    if name.startswith(_RULE):  # each rule of normalisation had a switch
        return None if name in _OF_TODAY else _RULES
    return next((names[name] for names in _table().values() if name in names), None)


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
