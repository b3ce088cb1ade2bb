"""Streams where several things meet: plans made again, cached parts, pauses of listeners, deaths of workers."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import closing

import numpy as np
import pytest

from frontend.contract.errors import Interrupted, SpeechError
from frontend.contract.request import Urgency
from frontend.speech.sessions import OnBusy, Sessions
from frontend.streams.cache import CachedSegment
from frontend.streams.joins import Joiner
from frontend.streams.segments import StreamSegment
from frontend.streams.stream import Stream
from shm.audio import SAMPLE_RATE, Pcm
from shm.messages import Marks
from shm.timing import pack_marks
from tests.frontend.desk import Desk, desk_with, heard, listen, planned
from tests.frontend.scripted_worker import DEADLINE, ScriptedWorker, samples_of
from tests.frontend.words_reader import WordsReader, at_work, script_of, speak, spoken_before, words, worker_of
from text.words.segment import Cut

FAST, SLOW = 0.3, 0.8
"""Real-time factors; a slow worker's long segments come too late after short ones."""


desk = desk_with(reader=WordsReader, cache_bytes=1 << 24)


async def paused(desk: Desk, worker: ScriptedWorker, text: str, made: int) -> tuple[Stream, AsyncIterator[Pcm]]:
    """A stream whose listener took one piece a minute ago; its first `made` segments are there, two more are begun."""
    await spoken_before(desk, worker, "6j", FAST)
    stream = desk.open(text, client="paused")
    pieces = aiter(stream)
    first = asyncio.create_task(anext(pieces))
    for count in range(2, 2 + made):
        speak(worker, await worker.has(count), FAST)
    await first
    await worker.has(made + 3)
    await planned(stream)
    assert stream.playback.since is not None
    stream.playback.since -= 60
    return stream, pieces


# -- plans made again, and the cache


async def test_a_cached_segment_keeps_its_place_where_what_is_around_it_comes_too_late(desk: Desk) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6b", SLOW)
    stream = await planned(desk.open("6a 24c 6b 6d"))
    order: dict[str, None] = {}
    async with at_work(worker, 2, SLOW), asyncio.timeout(DEADLINE):
        async for _ in stream:
            order |= {segment.segment.script[0]: None for segment in list(stream.segments)[:1]}
    assert list(order) == ["a", "c", "b", "d"]


async def test_a_plan_that_is_made_anew_during_a_look_into_the_cache_is_said_once_and_in_order(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6b", SLOW)
    looking, found = asyncio.Event(), asyncio.Event()
    recall = desk.scheduler._recall

    async def slow_recall(stream: Stream, planned: StreamSegment) -> CachedSegment | None:
        if planned.segment.script == words("6e").script:
            looking.set()
            await found.wait()
        return await recall(stream, planned)

    monkeypatch.setattr(desk.scheduler, "_recall", slow_recall)
    listener = listen(desk.open("6a 24c 6e 6d"))
    order = await worker.has(2)
    await looking.wait()
    speak(worker, order, SLOW)
    await worker.has(3)
    assert desk.counted("replans_total") == 1
    found.set()
    async with at_work(worker, 3, SLOW):
        await heard(listener)
    said = worker.orders[1:]
    assert " ".join(order.script for order in said) == script_of("6a 24c 6e 6d")
    assert [order.segment for order in said] == list(range(len(said)))


async def test_what_is_cached_further_on_does_not_sound_yet(desk: Desk) -> None:
    await spoken_before(desk, worker_of(desk), "6b", SLOW)
    assert not (await planned(desk.open("6a 6b"))).timing.sounds


async def test_a_stream_is_accepted_once_it_has_a_place_before_any_audio_is_there(desk: Desk) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6b", 2.0)
    busy = desk.open("24a", client="busy")
    async with asyncio.timeout(DEADLINE):
        assert await busy.accepted() and not busy.timing.sounds
        assert not await desk.open("6d", client="refused").accepted()
        assert not await desk.open("", client="silent").accepted()
        assert await desk.open("6b", client="cached").accepted()


async def test_a_text_whose_beginning_is_cached_is_not_refused_behind_it(desk: Desk) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6b", 2.0)
    desk.open("24a", client="busy")
    await worker.has(2)
    assert (await planned(desk.open("6d", client="new"))).failed
    assert not (await planned(desk.open("6b 6d", client="other"))).failed


# -- listeners that pause, or don't listen yet


async def test_a_paused_listener_refuses_nobody(desk: Desk) -> None:
    await paused(desk, worker_of(desk), "6a 24c 6e 6d 24f 24g", made=3)
    assert not (await planned(desk.open("6h", client="other"))).failed


async def test_a_paused_listener_keeps_the_plan(desk: Desk) -> None:
    await paused(desk, worker_of(desk), "6a 6c 6e 24d 24f 24g", made=3)
    desk.scheduler._dispatcher.wake()
    assert desk.counted("replans_total") == 0


async def test_a_listener_that_comes_back_from_a_pause_heard_no_gap(desk: Desk) -> None:
    worker = worker_of(desk)
    _stream, pieces = await paused(desk, worker, "6a 24c 6d 6e", made=2)
    async with at_work(worker, 4, FAST), asyncio.timeout(DEADLINE):
        async for _ in pieces:
            pass
    assert desk.counted("stream_underruns_total") == 0


async def test_a_paused_listener_does_not_go_before_one_that_runs_dry(desk: Desk) -> None:
    stream, _pieces = await paused(desk, worker_of(desk), "6a 24c 24e 24d", made=1)
    assert stream.timing.deadline(stream.segments[-1]) > time.monotonic(), "its listener has enough to hear"


async def test_a_paused_listener_s_failed_stream_takes_no_more_work(desk: Desk) -> None:
    worker = worker_of(desk)
    stream, _pieces = await paused(desk, worker, "6a 6b 6c 6d 6e", made=1)
    stream.fail(SpeechError("it is over"))
    other = listen(desk.open("6h", client="other"))
    async with at_work(worker, 3, FAST):
        await heard(other)
    assert [order.script[0] for order in worker.orders] == ["j", "a", "b", "c", "h"]


async def test_a_clip_that_nobody_listens_to_yet_leaves_room_for_a_listener(desk: Desk) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6b", 0.6)
    listen(desk.open("6a " + "24c 24d 24e 24f " * 10, client="clip", urgency=Urgency.WHOLE))
    speak(worker, await worker.has(2), 0.6)
    await worker.has(4)
    assert not (await planned(desk.open("6h", client="other"))).failed


# -- ends


def test_a_pause_that_the_text_asks_for_at_its_end_is_there_whole() -> None:
    joiner = Joiner()
    pieces = joiner.push(np.full(SAMPLE_RATE, 8000, np.int16))
    joiner.end(Cut.SENTENCE, 1.0, pause=2.0)
    assert sum(map(len, pieces + joiner.finish())) == 3 * SAMPLE_RATE


async def test_an_interrupting_request_gets_the_place_of_the_one_that_it_ends(desk: Desk) -> None:
    worker_of(desk)
    for client in range(7):  # of the desk's eight places
        desk.open("6a", client=str(client))
    sessions, began = Sessions(), asyncio.Event()

    async def first() -> None:
        async with sessions.turn("me", OnBusy.INTERRUPT):
            with closing(desk.open("6c")):
                began.set()
                await asyncio.Event().wait()

    interrupted = asyncio.create_task(first())
    await began.wait()
    async with sessions.turn("me", OnBusy.INTERRUPT):
        desk.open("6d")
    with pytest.raises(Interrupted):
        await interrupted


async def test_the_marks_of_a_segment_that_was_sealed_whole_outlive_its_worker(desk: Desk) -> None:
    first = worker_of(desk)
    listener = listen(desk.open("6a", timestamps=True))
    order = await first.has(1)
    first.send(Marks(1, order.stream, order.segment, pack_marks([(0, 100), (12, 2000), (35, 50000)])))
    first.seal(order, 0, len(samples_of(order.script)))
    desk.kill(first)
    second = worker_of(desk, generation=2)
    order = await second.has(1)
    assert order.from_sample == len(samples_of(order.script))
    second.end(order)  # nothing is left to be made, so it has nothing to say
    await heard(listener)
    assert await desk.open("6a", timestamps=True).all_cached()
