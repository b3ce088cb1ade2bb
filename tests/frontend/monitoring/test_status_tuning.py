"""`/status` on tuning: which profile is in use and how old it is, or why none is."""

from __future__ import annotations

from typing import Any

import msgspec

from frontend.monitoring.status_handler import tuning
from shm.situation import TuningState

IN_USE = TuningState(created=86_400.0, chosen={"threads": "1", "concurrency": "4"}, verdict="1.1 times better")


def shown(told: TuningState) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(tuning(told, 90_000.0))
    return found


def test_the_profile_in_use_has_what_it_chose_and_its_age() -> None:
    assert shown(IN_USE) == {
        "in_use": True,
        "chosen": {"threads": "1", "concurrency": "4"},
        "verdict": "1.1 times better",
        "made_at": "1970-01-02T00:00:00+00:00",
        "age_seconds": 3600,
    }


def test_without_one_the_reason_is_there_and_nothing_else() -> None:
    assert shown(TuningState(reason="the profile is stale")) == {
        "in_use": False,
        "reason": "the profile is stale",
    }
