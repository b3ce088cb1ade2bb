"""Playback: the times at which a listener hears samples, and those at which the next ones must exist."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from frontend.contract.request import Urgency
from frontend.streams import stream
from frontend.streams.stream import Playback, Timing
from shm.audio import SAMPLE_RATE, Pcm

RATE = SAMPLE_RATE // 2


class Time:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(stream, "time", made)
    return made


def given(heard: Playback, seconds: int = 1) -> Iterator[Pcm]:
    """Give a piece; the listener has it until `taken`."""
    heard.position += seconds * SAMPLE_RATE
    giving = heard.give([np.zeros(seconds * SAMPLE_RATE, np.int16)])
    next(giving)
    return giving


def taken(giving: Iterator[Pcm]) -> None:
    assert next(giving, None) is None


def test_it_begins_with_the_first_piece(time: Time) -> None:
    heard = Playback()
    assert (heard.since, heard.starts(42.0)) == (None, 42.0)
    given(heard)
    assert (heard.since, heard.starts(42.0)) == (100.0, 100.0)


def test_it_runs_on_while_there_is_something_to_hear(time: Time) -> None:
    heard = Playback()
    taken(given(heard, seconds=2))
    time.now += 1.5
    assert not heard.heard_gap()
    assert heard.starts(0.0) == 100.0


def test_it_stands_still_in_a_gap(time: Time) -> None:
    heard = Playback()
    taken(given(heard))
    time.now += 3.0
    assert heard.heard_gap()
    assert heard.starts(0.0) == 102.0
    assert not heard.heard_gap(), "it is counted once"


def test_it_stands_still_while_a_piece_is_not_taken(time: Time) -> None:
    heard = Playback()
    giving = given(heard)
    time.now += 3.0
    assert heard.starts(0.0) == 102.0
    taken(giving)
    assert heard.since == 102.0
    assert not heard.heard_gap(), "nobody waited for anything"


def test_nobody_hears_a_gap_before_the_first_piece(time: Time) -> None:
    assert not Playback().heard_gap()


def timing(position: int, before: dict[str, int], starts: float) -> Any:
    """Make the deadlines of a listener who was given so many samples, of an engine at half the usual rate; `before`:
    samples waiting before each segment."""
    made: Any = Timing
    return made(
        SimpleNamespace(urgency=Urgency.LISTENING, progress=SimpleNamespace(arrived=0.0)),
        SimpleNamespace(samples_before=before.__getitem__),
        SimpleNamespace(position=position, starts=lambda _expected: starts, sample_rate=RATE),
    )


def test_a_deadline_is_the_moment_at_which_the_listener_runs_dry() -> None:
    found = timing(RATE // 2, {"next": 0, "the one after": 3 * RATE}, starts=100.0)
    assert found.deadline("next") == 100.5
    assert found.deadline("the one after") == 103.5
