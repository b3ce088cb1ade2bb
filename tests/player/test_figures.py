"""The pre-buffer, the timeline, the queue and the sleep watch."""

import pytest

from player.deck import Deck
from player.lineup import Lineup
from player.playback import STEPS, faster, slower
from player.process import SleepWatch
from player.track import AFTER_A_GAP, AT_LEAST, MOST, Timeline, needed
from shm.audio import SAMPLE_RATE
from shm.playing import Item, WhenBusy
from tests.player.fakes import FakeFetcher


def test_a_fast_engine_needs_a_tenth_of_a_second() -> None:
    assert needed(None, 1e6, False) == needed(0.5, 1e6, False) == AT_LEAST == 2400
    assert needed(0.5, 1e6, True) == needed(None, 1e6, True) == AFTER_A_GAP == 12_000, "after a gap, half a second"
    assert needed(2.0, 1e6, True) == needed(2.0, 1e6, False) > AFTER_A_GAP, "a slow engine needs more anyway"


@pytest.mark.parametrize("factor", [1.2, 2.0, 5.0])
def test_a_slow_engine_never_runs_dry_by_its_prediction(factor: float) -> None:
    total = 60.0 * SAMPLE_RATE
    held = there = needed(factor, total, False)
    played = 0.0
    while played < total:
        played += 100
        there = min(there + 100 / factor, total)
        assert there >= played - 1e-6 or there == total
    assert held < total and needed(factor / 1.21, total, False) < held, "and waits no longer than that"


def test_a_very_long_text_waits_ten_minutes_at_most() -> None:
    assert needed(50, 1e9, False) == MOST


def test_a_timeline_learns_from_sentences() -> None:
    timeline = Timeline(150)
    assert timeline.total(1.0) == pytest.approx(10)
    assert timeline.total(2.0) == pytest.approx(5)
    timeline.note(0, "x" * 29, 4.0, 1.0)
    timeline.note(1, "x" * 29, 2.0, 2.0)
    assert timeline.before(2, 1.0) == pytest.approx(8)
    assert timeline.before(3, 2.0) == pytest.approx(6), "an unknown sentence is an average one"
    assert timeline.total(1.0) == pytest.approx(20)
    assert [timeline.number_at(at, 1.0) for at in (0, 3.9, 4.1, 9.0, 19.9, 20.1)] == [0, 0, 1, 2, 4, None]
    timeline.last = 1
    assert timeline.total(1.0) == pytest.approx(8)
    assert timeline.number_at(7.9, 1.0) == 1 and timeline.number_at(8.1, 1.0) is None


def item(name: str) -> Item:
    return Item(id=name, input=name, voice="v", speed=1.0)


def test_the_queue_keeps_everything_but_the_order_is_the_callers() -> None:
    lineup = Lineup(FakeFetcher(), Deck(lambda: None), lambda: None)
    assert lineup.add(item("now"), WhenBusy.QUEUE) == 0
    lineup.advance()
    assert lineup.add(item("a"), WhenBusy.QUEUE) == 1
    assert lineup.add(item("b"), WhenBusy.QUEUE) == 2
    assert lineup.add(item("c"), WhenBusy.NEXT) == 1
    assert lineup.add(item("d"), WhenBusy.INTERRUPT) == 0
    assert [each.id for each in lineup.items] == ["now", "d", "c", "a", "b"]
    lineup.advance()
    assert [each.id for each in lineup.items] == ["d", "c", "a", "b"]


def test_a_speed_beyond_the_usual_ones_stays() -> None:
    assert (faster(3.5), slower(3.5), faster(0.3), slower(0.3)) == (3.5, 3.0, 0.5, 0.3)
    assert [faster(step) for step in STEPS] == [*STEPS[1:], STEPS[-1]]
    assert [slower(step) for step in STEPS] == [STEPS[0], *STEPS[:-1]]


def test_only_sleep_counts_as_sleep() -> None:
    asleep = iter([5.0, 5.0, 5.01, 65.0, 65.0])
    watch = SleepWatch(lambda: next(asleep))
    assert [watch.slept() for _ in range(4)] == [False, False, True, False]
