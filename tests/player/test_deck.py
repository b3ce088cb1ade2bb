"""The deck's fades, jumps and record; reels, each sample once; pre-buffer, timeline, queue and sleep watch."""

import numpy as np
import pytest

from player.deck import FADE, SHORT_FADE, Deck
from player.lineup import Lineup
from player.playback import STEPS, faster, slower
from player.process import SleepWatch
from player.reel import Reel, ReelPlace
from player.track import AFTER_A_GAP, AT_LEAST, MOST, Timeline, needed
from shm.audio import SAMPLE_RATE, Pcm
from shm.playing import Item, WhenBusy
from tests.player.fakes import SENTENCE, FakeFetcher, voice_of


def running(reel: Reel) -> tuple[Deck, list[str]]:
    starved: list[str] = []
    deck = Deck(lambda: starved.append("starved"))
    deck.jump(reel, run=True)
    return deck, starved


def test_a_deck_that_does_not_run_is_silent() -> None:
    deck = Deck(lambda: None)
    deck.jump(full(Reel(), 0), run=False)
    assert not deck.fill(100).any() and deck.taken == 100


def test_it_says_once_that_it_is_starved() -> None:
    deck, starved = running(full(Reel(), 0))
    deck.fill(SENTENCE)
    assert not starved
    assert not deck.fill(10).any() and not deck.fill(10).any()
    assert starved == ["starved"]


def test_a_jump_fades_twenty_milliseconds_and_lands_on_the_first_sample() -> None:
    reel = full(Reel(), 0, 1, 2)
    deck, _ = running(reel)
    deck.fill(1000)
    deck.jump(reel, ReelPlace(2), run=True)
    got = deck.fill(FADE + 500)
    loud = voice_of("x", 0)[1000 : 1000 + FADE]
    assert FADE == 480 and got[FADE - 1] == 0
    assert np.all(got[:FADE] <= loud) and got[0] == loud[0]
    assert np.array_equal(got[FADE:], voice_of("x", 2)[:500])


def test_two_jumps_in_a_row_are_one_fade() -> None:
    first, second, third = (full(Reel(), number) for number in range(3))
    for reel, number in ((second, 1), (third, 2)):
        reel.place = ReelPlace(number)
    deck, _ = running(first)
    deck.fill(1000)
    deck.jump(second, run=True)
    deck.jump(third, run=True)
    got = deck.fill(FADE + 100)
    assert np.all(got[:FADE] <= voice_of("x", 0).max())
    assert np.array_equal(got[FADE:], voice_of("x", 2)[:100])


def test_a_stop_goes_back_to_the_sample_that_sounds_and_rises_there() -> None:
    deck, _ = running(full(Reel(), 0))
    deck.fill(3000)
    deck.stop(unheard=1000)
    assert not deck.fill(500).any()
    deck.run()
    got, wanted = deck.fill(1000), voice_of("x", 0)[2000:3000]
    assert np.array_equal(got[SHORT_FADE:], wanted[SHORT_FADE:])
    assert got[0] == 0 and np.all(got[:SHORT_FADE] <= wanted[:SHORT_FADE])


def test_a_fade_ends_in_silence_and_playback_continues_at_its_first_sample() -> None:
    deck, _ = running(full(Reel(), 0))
    deck.fill(3000)
    deck.fade()
    got, wanted = deck.fill(FADE + 500), voice_of("x", 0)[3000 : 3000 + FADE]
    assert got[0] == wanted[0] and got[FADE - 1] == 0 and np.all(got[:FADE] <= wanted)
    assert not got[FADE:].any()
    deck.run()
    again = deck.fill(1000)
    assert np.array_equal(again[SHORT_FADE:], voice_of("x", 0)[3000 + SHORT_FADE : 4000]) and again[0] == 0


def test_an_output_that_begins_gets_no_fade_of_the_last_one() -> None:
    deck, _ = running(full(Reel(), 0))
    deck.fill(3000)
    deck.fade()
    deck.begin()
    assert not deck.fill(100).any()


def test_it_knows_what_sounds() -> None:
    reel = full(Reel(), 0, 1)
    deck, _ = running(reel)
    for _ in range(50):
        deck.fill(SENTENCE // 40)
    found = deck.sounding(delay=SENTENCE // 2)
    assert found and found[0] is reel and found[1] == ReelPlace(0, SENTENCE * 3 // 4)
    found = deck.sounding(delay=0)
    assert found and found[1] == ReelPlace(1, SENTENCE // 4)


def test_volume_counts_at_once() -> None:
    deck, _ = running(full(Reel(), 0))
    deck.volume = 0.5
    got: Pcm = deck.fill(100)
    assert np.array_equal(got, np.rint(voice_of("x", 0)[:100] * np.float32(0.5)).astype(np.int16))


def test_padding_that_is_taken_back_is_replaced_by_the_samples_that_came() -> None:
    reel = Reel()
    deck = Deck(lambda: None)
    deck.fill(500)
    deck.jump(full(reel, 0), run=True)
    assert deck.padding == 500
    deck.take_back(400)
    assert np.array_equal(deck.fill(400), reel.get(0).read(0, 400))
    assert (deck.padding, deck.taken) == (0, 500)
    found = deck.sounding(200)
    assert found and found[1].offset == 200, "the place that sounds is known by what was taken"


def test_padding_after_samples_counts_from_the_last_of_them() -> None:
    reel = Reel()
    deck = Deck(lambda: None)
    deck.jump(full(reel, 0), run=True)
    length = len(reel.get(0).read(0, 1 << 20))
    deck.fill(length - 100)
    assert deck.padding == 0
    deck.fill(250)
    deck.fill(50)
    assert deck.padding == 200


def full(reel: Reel, *numbers: int) -> Reel:
    for number in numbers:
        reel.begin(number, f"s{number}")
        reel.append(number, voice_of("x", number))
        reel.finish(number)
    return reel


def read(reel: Reel, count: int) -> list[int]:
    return [int(value) for _, samples in reel.read(count) for value in samples]


def test_samples_leave_in_order_across_sentences() -> None:
    reel = full(Reel(), 0, 1)
    got = read(reel, SENTENCE - 10) + read(reel, 100)
    wanted = [*voice_of("x", 0), *voice_of("x", 1)]
    assert got == wanted[: len(got)] and len(got) == SENTENCE + 90
    assert reel.place == ReelPlace(1, 90)


def test_reading_waits_inside_a_sentence_that_is_not_whole() -> None:
    reel = Reel()
    reel.begin(0, "x")
    reel.append(0, voice_of("x", 0)[:100])
    assert len(read(reel, 500)) == 100 and reel.missing == 0 and not reel.exhausted
    reel.append(0, voice_of("x", 0)[100:])
    assert len(read(reel, 500)) == 500


def test_a_sentence_that_comes_again_continues_where_it_was_cut() -> None:
    reel, audio = Reel(), voice_of("x", 0)
    reel.begin(0, "x")
    reel.append(0, audio[:1000])
    got = read(reel, 600)
    reel.begin(0, "x")
    reel.append(0, audio[:700])
    reel.append(0, audio[700:])
    reel.finish(0)
    got += read(reel, SENTENCE)
    assert got == audio.tolist()


def test_a_sentence_that_comes_again_otherwise_is_read_from_its_beginning() -> None:
    reel, audio, other = Reel(), voice_of("x", 0), voice_of("x", 1)
    reel.begin(0, "x")
    reel.append(0, audio[:1000])
    read(reel, 600)
    reel.begin(0, "x")
    reel.append(0, other)
    reel.finish(0)
    assert read(reel, SENTENCE) == other.tolist()


def test_the_end_is_known_and_reached() -> None:
    reel = full(Reel(1), 1, 2)
    assert reel.missing == 3
    reel.last = 2
    assert reel.missing is None and not reel.exhausted
    read(reel, 2 * SENTENCE)
    assert reel.exhausted and reel.ahead == 0


def test_a_text_without_sentences_is_exhausted() -> None:
    reel = Reel()
    reel.last = -1
    assert reel.exhausted and reel.missing is None


def test_another_take_keeps_only_the_sentence_that_sounds() -> None:
    reel = full(Reel(), 0, 1, 2)
    read(reel, SENTENCE + 10)
    reel.retake()
    assert reel.missing == 2 and not reel.holds(0) and not reel.holds(2)
    assert len(read(reel, 2 * SENTENCE)) == SENTENCE - 10, "the sentence goes on to its end"


def test_words_are_kept_once_and_in_order() -> None:
    reel = full(Reel(), 0)
    for at, word in ((0, "a"), (50, "b"), (50, "b"), (20, "late")):
        reel.word(0, at, word)
    held = reel.get(0)
    assert held and held.words == [(0, "a"), (50, "b")]


def test_what_was_heard_long_ago_is_forgotten(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("player.reel.KEPT_BEHIND", 2 * SENTENCE)
    reel = full(Reel(), *range(6))
    read(reel, 5 * SENTENCE)
    assert [number for number in range(6) if reel.holds(number)] == [3, 4, 5]
    assert np.array_equal(reel.read(10)[0][1], voice_of("x", 5)[:10])


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
