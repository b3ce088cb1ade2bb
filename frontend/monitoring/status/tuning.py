"""The tuning profile in use, or the reason why there is none, as `/status` shows it."""

from __future__ import annotations

from datetime import UTC, datetime

from frontend.monitoring.status import report
from shm import situation


def tuning(told: situation.TuningState, now: float) -> report.Tuning:
    """
    Args:
        told: the supervisor's, of the start or the last reload.
        now: seconds since 1970.
    """
    if told.created is None:
        return report.Tuning(False, told.reason)
    made_at = datetime.fromtimestamp(told.created, UTC).isoformat(timespec="seconds")
    return report.Tuning(
        True, chosen=told.chosen, verdict=told.verdict, made_at=made_at, age_seconds=round(now - told.created)
    )
