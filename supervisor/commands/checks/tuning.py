"""Does `serve` use what tuning found, and if not, why?"""

from __future__ import annotations

import logging

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning
from supervisor.tuning.tuned import NOT_WANTED, NOTHING_TUNED


def tuning(circumstances: Circumstances) -> Finding:
    """The profile that would be used."""
    applied = circumstances.applied
    if applied and applied.profile:
        return ok(f"{applied.note} ({applied.profile.verdict})")
    if not circumstances.settings.tuning.tuned:
        return ok(NOT_WANTED)
    if not applied or not applied.note:
        return ok(NOTHING_TUNED)
    return warning(applied.note, "kokoro-live tune") if applied.level == logging.WARNING else ok(applied.note)
