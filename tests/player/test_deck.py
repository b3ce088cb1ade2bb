"""The deck: fades, jumps and the record of what sounds."""

import numpy as np

from player.deck import FADE, SHORT_FADE, Deck
from player.reel import Reel, ReelPlace
from shm.audio import Pcm
from tests.player.fakes import SENTENCE, voice_of
from tests.player.test_reel import full


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
