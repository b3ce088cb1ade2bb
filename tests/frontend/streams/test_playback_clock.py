"""The playback clock: times at which a listener hears the samples that it was given."""

from __future__ import annotations

import pytest

from frontend.streams import playback as playback_clock
from frontend.streams.playback import PlaybackClock
from shm.audio import SAMPLE_RATE


class Time:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(playback_clock, "time", made)
    return made


def test_it_begins_with_the_first_piece(time: Time) -> None:
    clock = PlaybackClock()
    assert (clock.since, clock.starts(0, 42.0)) == (None, 42.0)
    clock.give()
    assert (clock.since, clock.starts(0, 42.0)) == (100.0, 100.0)


def test_it_runs_on_while_there_is_something_to_hear(time: Time) -> None:
    clock = PlaybackClock()
    clock.give()
    clock.ask(2 * SAMPLE_RATE)
    time.now += 1.5
    assert not clock.heard_gap(2 * SAMPLE_RATE)
    assert clock.starts(2 * SAMPLE_RATE, 0.0) == 100.0


def test_it_stands_still_in_a_gap(time: Time) -> None:
    clock = PlaybackClock()
    clock.give()
    clock.ask(SAMPLE_RATE)
    time.now += 3.0
    assert clock.heard_gap(SAMPLE_RATE)
    assert clock.starts(SAMPLE_RATE, 0.0) == 102.0
    assert not clock.heard_gap(SAMPLE_RATE), "it is counted once"


def test_it_stands_still_while_a_piece_is_not_taken(time: Time) -> None:
    clock = PlaybackClock()
    clock.give()
    time.now += 3.0
    assert clock.starts(SAMPLE_RATE, 0.0) == 102.0
    clock.ask(SAMPLE_RATE)
    assert clock.since == 102.0
    assert not clock.heard_gap(SAMPLE_RATE), "nobody waited for anything"


def test_nobody_hears_a_gap_before_the_first_piece(time: Time) -> None:
    assert not PlaybackClock().heard_gap(0)
