"""What a check sees, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from supervisor.settings.composition import Settings
from supervisor.tuning.application import Applied


class Verdict(StrEnum):
    """How grave a finding is."""

    OK = "ok"
    WARNING = "warning"
    """The server runs, but not as well as it could."""
    WRONG = "wrong"
    """The server doesn't start like this, or fails later."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found."""

    verdict: Verdict
    found: str
    cure: str = ""
    """What to do about it; empty if nothing has to be done."""


def ok(found: str) -> Finding:
    return Finding(Verdict.OK, found)


def warning(found: str, cure: str) -> Finding:
    return Finding(Verdict.WARNING, found, cure)


def wrong(found: str, cure: str) -> Finding:
    return Finding(Verdict.WRONG, found, cure)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What `serve` would start with."""

    settings: Settings
    config_file: Path
    config_error: str
    """Why the file can't be used; empty if it can, or isn't there."""
    applied: Applied | None = None
    """What became of the tuning profile, where it was looked for."""


Check = Callable[[Circumstances], Finding]


def outcome(check: Check, circumstances: Circumstances) -> Finding:
    """The check's finding; its own failure is one too."""
    try:
        return check(circumstances)
    except (Exception, SystemExit) as error:  # libraries that can't load what they need have been seen to exit
        return wrong(f"the check itself failed: {type(error).__name__}: {' '.join(str(error).split())}", "")
