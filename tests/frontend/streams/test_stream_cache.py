"""Segments that were spoken before, in another request's text: repeated, labelled, and never half."""

from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest

from frontend.contract.errors import ListenersFirst
from frontend.contract.request import SpeechRequest, Urgency
from frontend.planning.profile import CostProfile
from frontend.scheduling.dispatcher import fingerprint
from frontend.streams.cache import CachedSegment
from frontend.streams.joins import FADE, LONGEST_LEAD
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.situation import Situation
from tests.frontend.desk import Desk, heard, listen, spoken
from tests.frontend.scripted_worker import ENGINE, PER_TOKEN, ScriptedReader
from text.words.segment import Cut, Segment


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(cache_bytes=1 << 20)
    yield made
    made.close()


async def test_a_sentence_that_comes_again_in_another_text_is_not_made_again(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one|two"))
    await worker.speaks(1, 2)
    await heard(listener)
    again = desk.open("new|two")
    listener = listen(again)
    worker.speak(await worker.has(3))
    assert np.array_equal(await heard(listener), spoken("new|two"))
    assert [order.script for order in worker.orders] == ["one", "two", "new"]
    assert not again.cached, "a part of it had to be made"


async def test_a_text_that_was_spoken_whole_needs_no_worker(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one|two"))
    await worker.speaks(1, 2)
    first = await heard(listener)
    desk.kill(worker)
    desk.scheduler.situation(Situation("starting", "the worker is starting", {}))
    stream = desk.open("one|two|one")
    assert await stream.all_cached()
    assert np.array_equal(await heard(listen(stream)), spoken("one|two|one"))
    assert stream.cached
    assert stream.tokens == 9
    assert len(first)


async def test_a_text_that_is_new_is_known_to_be_new_before_it_is_spoken(desk: Desk) -> None:
    desk.worker(1)
    assert not await desk.open("unheard").all_cached()


async def test_a_fresh_request_neither_takes_nor_keeps(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one", fresh=True))
    worker.speak(await worker.has(1))
    await heard(listener)
    listener = listen(desk.open("one"))
    worker.speak(await worker.has(2))
    await heard(listener)
    fresh = desk.open("one", fresh=True)
    listener = listen(fresh)
    worker.speak(await worker.has(3))
    await heard(listener)
    assert not fresh.cached


async def test_a_segment_that_was_resumed_by_another_worker_is_kept_whole(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("hello there"))
    order = await first.has(1)
    first.seal(order, 0, 333)
    desk.kill(first)
    second = desk.worker(2)
    second.speak(await second.has(1))
    assert np.array_equal(await heard(listener), spoken("hello there"))
    assert np.array_equal(await heard(listen(desk.open("hello there"))), spoken("hello there"))
    assert len(second.orders) == 1


async def test_a_segment_whose_listener_left_in_its_middle_is_not_kept(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = desk.open("hello")
    listener = listen(stream)
    order = await worker.has(1)
    worker.seal(order, 0, PER_TOKEN)
    listener.cancel()
    await worker.hears_of_forgotten(1)
    listener = listen(desk.open("hello"))
    worker.speak(await worker.has(2))
    assert np.array_equal(await heard(listener), spoken("hello"))


async def test_what_nobody_waits_for_gives_way_to_who_listens(desk: Desk) -> None:
    worker = desk.worker(1)
    ahead = listen(desk.open("ahead|of time", urgency=Urgency.IDLE))
    await worker.has(1)
    listener = listen(desk.open("now"))
    with pytest.raises(ListenersFirst):
        await ahead
    with pytest.raises(ListenersFirst):
        desk.open("ahead|of time", urgency=Urgency.IDLE)
    worker.speak(await worker.has(2))
    assert np.array_equal(await heard(listener), spoken("now"))


async def test_idle_is_when_something_can_speak_and_nothing_does(desk: Desk) -> None:
    idle = desk.scheduler._standing.idle
    assert not idle.is_set(), "there is no worker"
    worker = desk.worker(1)
    await desk.scheduler.idle()
    listener = listen(desk.open("one"))
    assert not idle.is_set()
    worker.speak(await worker.has(1))
    await heard(listener)
    await desk.scheduler.idle()


class PausingReader(ScriptedReader):
    """Gives one sentence, and asks for that pause after it."""

    def __init__(self, pause: float | None) -> None:
        self._pause = pause

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        yield Segment("a", "a", 1, Cut.SENTENCE, pause=self._pause)


@pytest.mark.parametrize(("asked", "speed", "seconds"), [(None, 1.0, 0.43), (None, 2.0, 0.215), (1.5, 2.0, 1.5)])
async def test_a_silence_is_given_as_far_as_the_segments_pause_has_room(
    asked: float | None, speed: float, seconds: float
) -> None:
    desk = Desk(cache_bytes=1 << 20, reader=PausingReader(asked))
    desk.worker(1)
    voice = (("af_heart", 1.0),)
    sound = np.concatenate((np.full(SAMPLE_RATE, 9000, np.int16), np.zeros(2 * SAMPLE_RATE, np.int16)))
    desk.scheduler._shared.cache.keep(fingerprint(ENGINE, "a", "en-us", voice, speed), CachedSegment(sound))
    stream = desk.scheduler.open(SpeechRequest("id", "a", voice, "en-us", speed))
    piece = await anext(aiter(stream))
    assert len(piece) == round((1 + seconds - LONGEST_LEAD - FADE) * SAMPLE_RATE)
    desk.close()
