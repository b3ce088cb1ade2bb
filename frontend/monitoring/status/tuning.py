"""The tuning part of `/status`: the profile in use, or the reason why there is none."""

from __future__ import annotations

from datetime import UTC, datetime

from frontend.monitoring.status import report
from shm import messages
from shm.engine_info import EngineInfo


def tuning(told: messages.Tuning, engine: EngineInfo | None, now: float) -> report.Tuning:
    """The supervisor's word about tuning, unless the engine shows that the worker had to continue without it.

    Args:
        told: what was found at the start, or at the last reload.
        engine: what speaks.
        now: seconds since 1970.
    """
    if told.created is None:
        return report.Tuning(False, told.reason)
    chosen = told.chosen.get("model")
    if chosen and engine and engine.model != chosen:
        return report.Tuning(False, f"{engine.model} speaks, and not {chosen}, which it chose; the log says why")
    made_at = datetime.fromtimestamp(told.created, UTC).isoformat(timespec="seconds")
    return report.Tuning(
        True, chosen=told.chosen, verdict=told.verdict, made_at=made_at, age_seconds=round(now - told.created)
    )
