"""Playback of texts that grow while they sound: each word once, in order, and an end whatever becomes of the writer."""

from random import Random

import msgspec
import numpy as np
import pytest

from player import playback as playback_module
from player.fetching import WrittenPart
from shm.playing import Change, Extend, Item, Play, Playing, Verb, WhenBusy
from tests.player.fakes import SENTENCE, House, voice_of


@pytest.mark.parametrize("seed", range(12))
async def test_a_text_that_grows_is_heard_once_in_order(house: House, seed: int) -> None:
    random, words = Random(seed), [f"w{number}" for number in range(9)]
    item = Item(id="grows", input="", voice="v", speed=1.0, rest="")
    assert not house.playback.play(Play(0, item, WhenBusy.INTERRUPT)).refusal
    house.play("after", WhenBusy.QUEUE)
    at = 0
    while item.rest is not None:
        at += random.randint(0, 3)
        text = " ".join(words[:at]) + " "
        item = msgspec.structs.replace(item, input=text, rest=None if at >= len(words) else "w")
        assert not house.playback.extend(Extend(0, item)).refusal
        await house.until(lambda: bool(house.cards.opened))
        await house.hear(random.choice((0.1, 0.7, 2.5)))
        assert house.playback.state.id == "grows" or item.rest is None, "it isn't over while it may go on"
    while not house.playback.lineup.idle:
        await house.hear(0.1)
    assert house.playback.extend(Extend(0, item)).code == "not_found"
    parts = [request.item.input.split() for request in house.fetcher.requests]
    assert [word for part in parts for word in part] == [*words, "after"]
    heard = np.concatenate(house.card.heard)
    wanted = [voice_of(word, number) for part in parts for number, word in enumerate(part)]
    assert np.array_equal(heard[heard != 0], np.concatenate(wanted))


async def test_a_sentence_is_begun_before_it_is_whole(house: House) -> None:
    item = Item(id="grows", input="", voice="v", speed=1.0, rest="wo")
    house.playback.play(Play(0, item, WhenBusy.INTERRUPT))
    await house.until(lambda: len(house.fetcher.requests) == 1)
    house.playback.extend(Extend(0, msgspec.structs.replace(item, rest="word")))
    await house.sounds()
    await house.hear(2)
    assert (house.playback.phase, house.playback.state.sentence) == (Playing.BUFFERING, "w")
    house.playback.extend(Extend(0, msgspec.structs.replace(item, input="word and", rest=" mor")))
    await house.sounds()
    await house.hear(0.4)
    assert len(house.fetcher.requests) == 1, "there is enough to hear until the next is whole"
    await house.hear(0.6)
    assert house.playback.state.sentence == "and"
    house.steer(Verb.BACK)
    house.playback.extend(Extend(0, msgspec.structs.replace(item, input="word and more", rest=None)))
    await house.until(lambda: len(house.fetcher.requests) == 2)
    await house.hear(4)
    await house.until(lambda: house.playback.lineup.idle)
    assert [request.item.input for request in house.fetcher.requests] == ["word and", " more"]
    heard = np.concatenate(house.card.heard)
    word, and_, more = voice_of("word", 0), voice_of("and", 1), voice_of("more", 0)
    assert np.array_equal(heard[heard != 0][:SENTENCE], word), "no sample twice, none missing"
    assert np.array_equal(heard[-len(heard) :][heard != 0][-SENTENCE:], more) and np.isin(and_, heard).all()


async def test_a_written_part_ends_where_a_sentence_does_and_no_later() -> None:
    part = WrittenPart("He left at 5 p.m. Th")
    given = aiter(part)
    assert await anext(given) == b"He left at 5 p.m. Th"
    assert part.write("He left at 5 p.m. ", "Then") and not part.ended, "the next sentence has been begun"
    assert await anext(given) == b"en"
    assert part.write("He left at 5 p.m. Then all did. ", "So") and part.ended
    assert [piece async for piece in given] == [b" all did. "]
    assert [piece async for piece in part] == [b"He left at 5 p.m. Then all did. "], "as often as it is asked for"
    assert not WrittenPart("e").write("", "\u00e9"), "what follows has changed a letter"


async def test_a_changed_pace_holds_for_all_parts_of_a_growing_text(house: House) -> None:
    item = Item(id="grows", input="one two ", voice="v", speed=1.0, rest="")
    house.playback.play(Play(0, item, WhenBusy.INTERRUPT))
    await house.sounds()
    item = msgspec.structs.replace(item, input="one two three ")
    house.playback.extend(Extend(0, item))
    await house.until(lambda: len(house.fetcher.requests) == 2)
    await house.playback.change(Change(speed=2.0))
    house.playback.extend(Extend(0, msgspec.structs.replace(item, input="one two three four", rest=None)))
    await house.hear(4)
    await house.until(lambda: house.playback.lineup.idle)
    wanted = [voice_of("one", 0), voice_of("two", 1, 2.0), voice_of("three", 0, 2.0), voice_of("four", 0, 2.0)]
    heard = np.concatenate(house.card.heard)
    assert np.array_equal(heard[heard != 0], np.concatenate(wanted))


async def test_a_text_whose_writer_is_gone_ends_with_what_there_is(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playback_module, "TEXT_SECONDS", 0.0)
    house.playback.play(Play(0, Item(id="g", input="one ", voice="v", speed=1.0, rest="tw"), WhenBusy.INTERRUPT))
    await house.sounds()
    await house.hear(3)
    await house.until(lambda: len(house.fetcher.requests) == 2)
    await house.hear(2)
    await house.until(lambda: house.playback.lineup.idle)
    assert [request.item.input for request in house.fetcher.requests] == ["one ", "tw"]
