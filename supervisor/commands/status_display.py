"""`/status` as a person reads it. It shows what it doesn't know too: a server may be of another version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def display(url: str, answer: Mapping[str, Any]) -> RenderableType:
    """Single figures and groups of them as lines; lists of things as tables."""
    ready = answer.get("ready")
    state = ("ready", "bold green") if ready else ("can't speak", "bold red")
    lines = Table.grid(padding=(0, 2))
    lines.add_row(Text(url, "bold"), Text(*state))
    tables: list[RenderableType] = []
    for name, value in answer.items():
        if name == "ready":
            continue
        if isinstance(value, list) and value and all(isinstance(thing, dict) for thing in value):
            tables.append(_table(name, value))
        else:
            lines.add_row(Text(_words(name), "dim"), Text(_shown(value)))
    return Group(lines, *tables)


def lost(url: str, why: str) -> RenderableType:
    """In its place while the server doesn't answer."""
    return Group(Text(url, "bold"), Text(why, "red"))


def _table(name: str, things: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title=_words(name), title_justify="left", title_style="dim")
    columns = list(dict.fromkeys(column for thing in things for column in thing))
    for column in columns:
        table.add_column(_words(column))
    for thing in things:
        table.add_row(*(Text(_shown(thing[column]) if column in thing else "") for column in columns))
    return table


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_words(name)} {_shown(figure)}" for name, figure in _flat(value)) or "none"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _flat(group: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in group.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", value


def _words(name: str) -> str:
    return name.replace("_", " ")
