"""The check of the tuning profile: if `serve` applies it, and if not, the reason."""

from __future__ import annotations

import logging

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning


def tuning(circumstances: Circumstances) -> Finding:
    """Report the profile that would be applied."""
    applied = circumstances.applied
    if applied is None:
        return ok("the settings can't be read, so no profile was looked for")
    if applied.level == logging.WARNING:
        return warning(applied.note, "kokoro-live tune")
    return ok(f"{applied.note} ({applied.profile.verdict})" if applied.profile else applied.note)
