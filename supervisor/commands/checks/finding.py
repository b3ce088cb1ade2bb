"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from supervisor.settings.composition import Settings
from supervisor.settings.profile import Applied
from supervisor.startup.requirements import Opening


class Severity(StrEnum):
    OK = "ok"
    WARNING = "warning"
    """The server runs, but not as well as it could."""
    WRONG = "wrong"
    """The server doesn't start with this, or fails later."""


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: Severity
    found: str
    cure: str = ""
    """The remedy; empty if none is needed."""


def ok(found: str) -> Finding:
    return Finding(Severity.OK, found)


def warning(found: str, cure: str) -> Finding:
    return Finding(Severity.WARNING, found, cure)


def wrong(found: str, cure: str) -> Finding:
    return Finding(Severity.WRONG, found, cure)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The settings with which `serve` would start."""

    settings: Settings
    config_file: Path
    config_error: str
    """The reason why the config file can't be used; empty if it can, or doesn't exist."""
    applied: Applied | None = None
    """The applied tuning profile; None if the settings were not read."""
    opening: Opening | None = None
    """The start as far as the checks have made it; None for a check that is made alone."""


Check = Callable[[Circumstances], Finding]


def outcome(check: Check, circumstances: Circumstances) -> Finding:
    """The check's finding; a check that itself fails also gives one."""
    try:
        return check(circumstances)
    except (Exception, SystemExit) as error:  # libraries with a missing dependency have been seen to exit
        return wrong(f"the check itself failed: {type(error).__name__}: {' '.join(str(error).split())}", "")
