"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from supervisor.settings.composition import Settings
from supervisor.tuning.application import Applied


class Verdict(StrEnum):
    """The gravity of a finding."""

    OK = "ok"
    WARNING = "warning"
    """The server runs, but not as well as it could."""
    WRONG = "wrong"
    """The server doesn't start like this, or fails later."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check."""

    verdict: Verdict
    found: str
    cure: str = ""
    """The cure; empty if nothing has to be done."""


def ok(found: str) -> Finding:
    return Finding(Verdict.OK, found)


def warning(found: str, cure: str) -> Finding:
    return Finding(Verdict.WARNING, found, cure)


def wrong(found: str, cure: str) -> Finding:
    return Finding(Verdict.WRONG, found, cure)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The settings with which `serve` would start."""

    settings: Settings
    config_file: Path
    config_error: str
    """The reason why the file can't be used; empty if it can, or isn't there."""
    applied: Applied | None = None
    """The use of the tuning profile; None if the settings were not read."""


Check = Callable[[Circumstances], Finding]


def outcome(check: Check, circumstances: Circumstances) -> Finding:
    """The check's finding; a check that fails itself gives one too."""
    try:
        return check(circumstances)
    except (Exception, SystemExit) as error:  # libraries that can't load what they need have been seen to exit
        return wrong(f"the check itself failed: {type(error).__name__}: {' '.join(str(error).split())}", "")
