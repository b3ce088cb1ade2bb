"""Does `serve` use what tuning found, and if not, why?"""

from __future__ import annotations

import logging

from supervisor.checks.finding import Circumstances, Finding, ok, warning


def tuning(circumstances: Circumstances) -> Finding:
    """The profile that would be used."""
    applied = circumstances.applied
    if applied and applied.profile:
        return ok(f"{applied.note} ({applied.profile.verdict})")
    if not circumstances.settings.tuning.tuned:
        return ok("--no-tuned: nothing that was found is used")
    if not applied or not applied.note:
        return ok("nothing was tuned here; `kokoro-live tune` looks for settings that suit this machine")
    return warning(applied.note, "kokoro-live tune") if applied.level == logging.WARNING else ok(applied.note)
