"""Deadlines: a segment's first sample must exist when its listener has heard all that comes before it."""

from types import SimpleNamespace
from typing import Any

from frontend.contract.urgency import Urgency
from frontend.streams.playback import Timing
from shm.audio import SAMPLE_RATE


def timing(position: int, before: dict[str, int], starts: float) -> Any:
    """Make the deadlines of a listener who was given so many samples; `before`: samples waiting before each segment."""
    clock = SimpleNamespace(starts=lambda _position, _expected: starts)
    made: Any = Timing
    return made(
        SimpleNamespace(urgency=Urgency.LISTENING),
        SimpleNamespace(samples_before=before.__getitem__),
        SimpleNamespace(position=position, clock=clock),
    )


def test_a_deadline_is_the_moment_at_which_the_listener_runs_dry() -> None:
    found = timing(SAMPLE_RATE // 2, {"next": 0, "the one after": 3 * SAMPLE_RATE}, starts=100.0)
    assert found.deadline("next") == 100.5
    assert found.deadline("the one after") == 103.5
