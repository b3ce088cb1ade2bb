"""A setting: one field of a dataclass, which carries its words, its group in `--help` and its bounds.

The supervisor makes a flag, a `KOKORO_LIVE_*` variable and a key of the config file of each field that is declared by
`setting`. A plain field of such a dataclass is none: it is a figure that tests and measurements vary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields
from enum import StrEnum
from typing import Any


class Group(StrEnum):
    """The groups of settings, in the order of `--help`."""

    ACCESS = "Address and access"
    ENGINE = "Engine and model"
    MACHINE = "Use of the machine"
    TEXT = "Text"
    ANSWERS = "Answers"
    DIALECTS = "Protocols of other services"
    CACHE = "Cache"
    BOOKS = "Books"
    LIMITS = "Limits"
    RESTARTS = "Restarts and shutdown"
    LOGS = "Logs and metrics"


def setting(
    group: Group,
    help: str,
    default: Any = MISSING,
    *,
    factory: Callable[[], Any] | Any = MISSING,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    separator: str = "",
    pairs: bool = False,
    duration: bool = False,
    secret: bool = False,
) -> Any:
    """A dataclass field for a setting.

    Args:
        factory: makes the default, in place of `default`.
        low: the least value.
        above: every value is more than this.
        high: the greatest value.
        separator: the setting is a list of texts, which a flag writes with this between them.
        pairs: the setting is a list of `KEY=VALUE`, or a table in the file.
        duration: seconds, which may be written with a unit, as in 15m.
        secret: the value isn't in the dataclass's `repr`.
    """
    metadata = {
        "group": group,
        "help": help,
        "low": low,
        "above": above,
        "high": high,
        "separator": separator,
        "pairs": pairs,
        "duration": duration,
    }
    return field(default=default, default_factory=factory, repr=not secret, metadata=metadata)


def check_bounds(settings: Any) -> None:
    """
    Raises:
        ValueError: a value is out of its setting's bounds; the message names the setting.
    """
    for each in fields(settings):
        value = getattr(settings, each.name)
        wanted = _wanted(**{name: each.metadata.get(name) for name in ("low", "above", "high")})
        if value is None or not wanted:
            continue
        low, above, high = (each.metadata[name] for name in ("low", "above", "high"))
        if (low is not None and value < low) or (above is not None and value <= above) or (high or value) < value:
            shown = f"{value:g}" if isinstance(value, float) else value
            raise ValueError(f"{each.name} must be {wanted}, not {shown}")


def _wanted(low: float | None, above: float | None, high: float | None) -> str:
    if high is not None:
        return f"{low} to {high}"
    if above is not None:
        return f"more than {above}"
    return "" if low is None else f"at least {low}"
