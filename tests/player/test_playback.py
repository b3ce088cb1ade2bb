"""Playback with a card that the test pulls from by hand, and audio that comes when the test says."""

import asyncio
import threading

import numpy as np
import pytest

from player import playback as playback_module
from player.deck import FADE
from player.fetching import CannotFetch
from shm.playing import Change, Item, Play, PlayedWord, PlayerState, Playing, Remove, Verb, WhenBusy
from tests.player.fakes import SENTENCE, House, RewritingSink, voice_of


async def test_a_text_sounds_whole_and_then_the_next(house: House) -> None:
    house.play("a b")
    house.play("c d", WhenBusy.QUEUE)
    await house.sounds()
    await house.hear(2)
    await house.until(lambda: not house.playback.lineup.waiting and house.playback.phase is Playing.PLAYING)
    await house.hear(2)
    await house.until(lambda: house.playback.lineup.idle)
    heard = np.concatenate(house.card.heard)
    wanted = [voice_of("a", 0), voice_of("b", 1), voice_of("c", 0), voice_of("d", 1)]
    assert np.array_equal(heard[heard != 0], np.concatenate(wanted))
    assert len(house.fetcher.requests) == 2 and not any(each.cancelled for each in house.fetcher.requests)
    states = [state.state for state in house.told if isinstance(state, PlayerState)]
    assert states[-1] is Playing.IDLE and Playing.PLAYING in states


async def test_words_are_told_as_they_sound(house: House) -> None:
    house.play("a b c")
    await house.sounds()
    await house.hear(1.5)
    house.playback.changed()
    await house.until(lambda: any(isinstance(each, PlayedWord) and each.word == "b" for each in house.told))
    assert not any(isinstance(each, PlayedWord) and each.word == "c" for each in house.told)
    state = house.playback.state
    assert (state.sentence, state.sentence_number, state.word) == ("b", 1, "b")
    assert state.seconds == pytest.approx(1.5) and state.of == pytest.approx(3)


async def test_an_interruption_fades_and_cancels_the_request(house: House) -> None:
    house.fetcher.gate.clear()
    first = house.play()
    await house.until(lambda: bool(house.fetcher.requests))
    house.play("other", WhenBusy.INTERRUPT)
    await house.until(lambda: house.fetcher.requests[0].cancelled)
    assert house.fetcher.requests[0].item == first
    house.fetcher.gate.set()
    await house.sounds()
    await house.hear(0.5)
    house.play("last")
    await house.until(lambda: house.playback.state.sentence == "last")
    await house.sounds()
    before = np.concatenate(house.card.heard)
    await house.hear(0.5)
    after = np.concatenate(house.card.heard)[len(before) :]
    assert np.array_equal(after[FADE : FADE + 1000], voice_of("last", 0)[:1000]) and after[FADE - 1] == 0


async def test_the_first_samples_take_the_place_of_silence_that_the_device_has_taken(house: House) -> None:
    house.cards.kind = RewritingSink
    house.play("a")
    await house.sounds()
    assert np.array_equal(house.card.pull(1000), voice_of("a", 0)[:1000])
    await house.until(lambda: house.playback.deck.padding == 0)


async def test_what_comes_before_the_device_runs_dry_follows_without_a_gap(house: House) -> None:
    """A short first block: the device has taken all of it, and silence after it, when the next one comes."""
    house.cards.kind = RewritingSink
    house.fetcher.on_sentence = lambda number: house.fetcher.gate.clear()
    house.play("a b")
    await house.sounds()
    await house.hear(SENTENCE / 24_000 - 0.2)
    assert house.playback.deck.padding > 0, "the device holds silence"
    house.fetcher.gate.set()
    await house.until(lambda: house.playback.deck.padding == 0)
    await house.hear(1)
    heard = np.concatenate(house.card.heard)
    assert np.array_equal(heard[: SENTENCE + 10_000], np.concatenate([voice_of("a", 0), voice_of("b", 1)[:10_000]]))
    assert house.playback.lineup.track and not house.playback.lineup.track.ran_dry


async def test_next_comes_before_the_queue_and_nothing_is_lost(house: House) -> None:
    house.play("a")
    house.play("c", WhenBusy.QUEUE)
    house.play("b", WhenBusy.NEXT)
    order = [house.playback.state.id, *(each.id for each in house.playback.state.queue)]
    assert order == ["i0", "i2", "i1"]


async def test_one_text_is_ended_and_the_others_stay(house: House) -> None:
    first = house.play("a b c")
    second = house.play("d e", WhenBusy.QUEUE)
    third = house.play("f g", WhenBusy.QUEUE)
    await house.sounds()
    await house.until(lambda: len(house.fetcher.requests) == 2)  # the second text is fetched ahead
    await house.hear(0.5)
    assert not house.playback.remove(Remove(0, second.id)).refusal
    assert [each.id for each in house.playback.lineup.items] == [first.id, third.id]
    assert not house.playback.remove(Remove(0, first.id)).refusal
    await house.until(lambda: house.playback.state.sentence == "f")
    await house.sounds()
    before = len(np.concatenate(house.card.heard))
    await house.hear(0.5)
    after = np.concatenate(house.card.heard)[before:]
    assert after[FADE - 1] == 0 and np.array_equal(after[FADE : FADE + 1000], voice_of("f", 0)[:1000])
    assert house.playback.remove(Remove(0, second.id)).code == "not_found"


async def test_the_only_text_ends_at_once(house: House) -> None:
    house.play()
    await house.sounds()
    await house.hear(0.5)
    assert not house.playback.remove(Remove(0, "i0")).refusal
    await house.until(lambda: house.card.closed)
    assert house.playback.lineup.idle


async def test_faster_and_slower_go_through_the_usual_speeds(house: House) -> None:
    house.play()
    await house.sounds()
    await house.hear(0.5)
    speeds = []
    for verb in (Verb.FASTER, Verb.FASTER, Verb.SLOWER):
        house.steer(verb)
        speeds.append(house.playback.state.speed)
    assert speeds == [1.25, 1.5, 1.25]
    await house.hear(0.7)
    assert house.fetcher.requests[-1].speed == 1.25


async def test_skip_and_back_use_what_is_there(house: House) -> None:
    house.play()
    await house.sounds()
    await house.hear(0.5)
    house.steer(Verb.SKIP)
    await house.hear(0.3)
    assert house.playback.state.sentence == "two"
    house.steer(Verb.BACK)
    await house.hear(0.1)
    assert house.playback.state.sentence == "one", "within its first second: the sentence before"
    house.steer(Verb.SKIP)
    await house.hear(0.9)
    assert len(house.fetcher.requests) == 1, "nothing is made twice"
    for _ in range(4):
        house.steer(Verb.SKIP)
    await house.until(lambda: house.playback.lineup.idle)


async def test_a_pause_closes_the_device_and_loses_nothing(house: House) -> None:
    house.play("a b")
    await house.sounds()
    await house.hear(0.7)
    house.card.delay = 1200
    house.steer(Verb.PAUSE)
    await house.until(lambda: house.card.closed)
    assert house.playback.phase is Playing.PAUSED
    house.steer(Verb.RESUME)
    await house.until(lambda: len(house.cards.opened) == 2)
    await house.sounds()
    await house.hear(0.2)
    got = np.concatenate(house.card.heard)
    got = got[np.flatnonzero(got)[0] - 1 :]
    at = round(0.7 * SENTENCE) - 1200
    assert np.array_equal(got[200:1000], voice_of("a", 0)[at + 200 : at + 1000])


async def test_the_device_is_closed_a_while_after_the_last_sound(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("player.loudspeaker.CLOSE_AFTER", 0.05)
    house.play("a")
    await house.sounds()
    assert not house.card.closed
    await house.hear(1.1)
    await house.until(lambda: house.playback.lineup.idle)
    await house.until(lambda: house.card.closed)
    assert len(house.cards.opened) == 1


async def test_an_output_that_takes_a_fade_gets_it(house: House) -> None:
    house.play("a b")
    await house.sounds()
    house.card.takes_fade = True
    await house.hear(0.5)
    before = sum(map(len, house.card.heard))
    house.steer(Verb.STOP)
    house.card.pull(FADE + 100)
    end, wanted = np.concatenate(house.card.heard)[before:], voice_of("a", 0)[before:]
    assert end[0] and end[FADE // 2] < wanted[FADE // 2] and not end[FADE - 1 :].any()
    await house.until(lambda: house.card.closed)


async def test_an_output_is_opened_when_the_last_one_is_closed(house: House) -> None:
    house.play("a b")
    await house.sounds()
    may_close = threading.Event()

    def close() -> None:
        assert may_close.wait(30)

    house.card.close = close  # type: ignore[method-assign]
    house.steer(Verb.PAUSE)
    house.steer(Verb.RESUME)
    for _ in range(100):
        await asyncio.sleep(0.001)
    assert len(house.cards.opened) == 1
    may_close.set()
    await house.until(lambda: len(house.cards.opened) == 2)


async def test_speed_changes_with_the_next_sentence(house: House) -> None:
    house.play()
    await house.sounds()
    await house.hear(0.5)
    assert not (await house.playback.change(Change(speed=2.0))).refusal
    await house.hear(1.5)
    heard = np.concatenate(house.card.heard)
    heard = heard[heard != 0]
    wanted = np.concatenate([voice_of("one", 0), voice_of("two", 1, 2.0), voice_of("three", 2, 2.0)])
    assert np.array_equal(heard[: len(wanted)], wanted[: len(heard)])
    assert (house.fetcher.requests[-1].sentence, house.fetcher.requests[-1].speed) == (1, 2.0)


async def test_a_place_beyond_the_end_is_refused_and_changes_nothing(house: House) -> None:
    house.play()
    await house.sounds()
    for change in (Change(seek=99.0), Change(sentence=9)):
        assert (await house.playback.change(change)).code == "seek_beyond_end"
    assert not (await house.playback.change(Change(seek=2.5))).refusal
    await house.hear(0.2)
    assert house.playback.state.sentence == "three"
    assert (await house.playback.change(Change(volume=0.5))).code == ""
    assert house.playback.deck.volume == 0.5


async def test_without_anything_to_play_only_the_volume_changes(house: House) -> None:
    assert (await house.playback.change(Change(speed=2.0))).code == "nothing_playing"
    assert not (await house.playback.change(Change(volume=0.3))).refusal
    for verb in Verb:
        house.steer(verb)
    assert house.playback.phase is Playing.IDLE


async def test_a_slow_engine_is_waited_for(house: House) -> None:
    house.fetcher.factor = 3.0
    sentences: list[int] = []

    def one_by_one(number: int) -> None:
        sentences.append(number)
        house.fetcher.gate.clear()

    house.fetcher.on_sentence = one_by_one
    house.play("one two three four five six seven eight")
    for _ in range(3):
        await house.until(lambda: not house.fetcher.gate.is_set())
        assert house.playback.phase is Playing.BUFFERING
        house.fetcher.gate.set()
    house.fetcher.on_sentence = sentences.append
    house.fetcher.gate.set()
    await house.sounds()
    assert len(sentences) >= 5


async def test_a_device_that_vanishes_is_replaced(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("player.loudspeaker.LOST_AFTER", 0.05)
    house.play("a b")
    await house.until(lambda: len(house.cards.opened) > 1)  # nobody pulls from the first
    house.cards.there = False
    monkeypatch.setattr("player.loudspeaker.RETRY_AFTER", 0.01)
    await house.until(lambda: house.playback.state.reason == "nothing is plugged in")
    assert house.playback.phase is Playing.BUFFERING
    house.cards.there = True
    before = len(house.cards.opened)
    await house.until(lambda: len(house.cards.opened) > before)


async def test_a_text_that_can_not_be_fetched_gives_way(house: House) -> None:
    async def refuse(*arguments: object) -> None:
        raise CannotFetch("no such voice")

    fetch, house.fetcher.fetch = house.fetcher.fetch, refuse  # type: ignore[method-assign,assignment]
    house.play("bad")
    await house.until(lambda: house.playback.lineup.idle)
    assert house.playback.state.reason == "no such voice"
    house.fetcher.fetch = fetch  # type: ignore[method-assign]
    house.play("good")
    await house.sounds()


async def test_a_resumed_item_begins_at_its_sentence_and_may_be_paused(house: House) -> None:
    house.play(sentence=2, paused=True)
    await house.until(lambda: bool(house.fetcher.requests))
    assert house.fetcher.requests[0].sentence == 2 and house.playback.phase is Playing.PAUSED
    house.steer(Verb.TOGGLE)
    await house.sounds()
    await house.hear(0.2)
    assert house.playback.state.sentence == "three"


async def test_an_item_that_comes_twice_is_played_once(house: House) -> None:
    item = house.play()
    house.playback.play(Play(5, item, WhenBusy.QUEUE))
    assert [each.id for each in house.playback.lineup.items] == [item.id]


async def test_the_queue_has_an_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playback_module, "MOST_WAITING", 2)
    house.play()
    queued = [house.play(on_busy=WhenBusy.QUEUE) for _ in range(2)]
    for on_busy in (WhenBusy.QUEUE, WhenBusy.NEXT):
        answer = house.playback.play(Play(0, Item(id="more", input="one", voice="v", speed=1.0), on_busy))
        assert answer.code == "queue_full"
    item = house.play(on_busy=WhenBusy.INTERRUPT)
    assert house.playback.lineup.items == [item, *queued]


async def test_of_two_quick_seeks_the_later_one_counts(house: House) -> None:
    house.play()
    await house.sounds()
    house.fetcher.gate.clear()
    assert house.playback.lineup.track is not None
    house.playback.lineup.track.retake(2.0, None)  # nothing after the current sentence is held
    seeks = [asyncio.create_task(house.playback.change(Change(sentence=number))) for number in (3, 2)]
    await house.until(lambda: house.fetcher.requests[-1].sentence == 2)
    house.fetcher.gate.set()
    assert [(await seek).code for seek in seeks] == ["", ""]
    assert house.playback.places.now is not None and house.playback.places.now.number == 2


async def test_a_seek_in_a_text_that_is_interrupted_says_so(house: House) -> None:
    house.play()
    await house.sounds()
    house.fetcher.gate.clear()
    assert house.playback.lineup.track is not None
    house.playback.lineup.track.retake(2.0, None)
    seek = asyncio.create_task(house.playback.change(Change(sentence=3)))
    await house.until(lambda: house.fetcher.requests[-1].sentence == 3)
    house.play()
    assert (await seek).code == "nothing_playing"
