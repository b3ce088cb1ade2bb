"""Turns: the segment that gets the next place at a worker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from frontend.scheduling.dispatcher import waiting


def stream(*deadlines: float, failed: bool = False) -> Any:
    """A stream that sounds, with segments that wait, by the moments at which its listener runs dry."""
    segments = SimpleNamespace(dispatched=lambda: iter(()), waiting=lambda: iter(deadlines))
    return SimpleNamespace(
        failed=failed, segments=segments, timing=SimpleNamespace(sounds=True, deadline=lambda segment: segment)
    )


def test_the_listener_who_runs_dry_first_gets_the_next_place() -> None:
    rich, poor, between = stream(40.0, 50.0), stream(1.0, 9.0), stream(5.0, 45.0)
    due = waiting({1: rich, 2: poor, 3: between})
    assert [deadline for deadline, _, _ in due] == [1.0, 5.0, 9.0, 40.0, 45.0, 50.0]
    assert due[0][1] is poor


def test_a_failed_stream_gets_none() -> None:
    assert not waiting({1: stream(1.0, failed=True)})
