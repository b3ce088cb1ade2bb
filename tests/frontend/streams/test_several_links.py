"""Several workers at once: who gets what, and how much they take together."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing

import msgspec
import numpy as np
import pytest

from frontend.contract.errors import Broken, Overloaded, Unavailable
from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from frontend.scheduling.dispatcher import finish
from frontend.streams.stream import Stream
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.messages import Commit, Done, SegmentOrder
from shm.situation import ProcessReport, Situation
from tests.engine_infos import espeak
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import DEADLINE, ENGINE, PER_TOKEN, ScriptedReader, ScriptedWorker, samples_of
from tests.frontend.several_workers import pair, quiet, rest, split
from text.words.segment import Segment


class LateReader(ScriptedReader):
    """Reads a text's second part after `close`."""

    def __init__(self) -> None:
        self._closed = threading.Event()

    def close(self) -> None:
        self._closed.set()

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        for place, segment in enumerate(super().segments(request, engine, profile)):
            if place:
                self._closed.wait(DEADLINE)
            yield segment


def test_a_segment_waits_for_the_thread_that_is_free_first() -> None:
    assert finish([], 2.0, 1) == 2.0
    assert finish([3.0, 1.0], 2.0, 1) == 6.0
    assert finish([3.0, 1.0, 1.0], 2.0, 2) == 4.0


async def test_listeners_are_spread_over_the_workers(desk: Desk) -> None:
    one, two = pair(desk)
    listeners = [listen(desk.open(text)) for text in ("one", "two")]
    orders = await one.has(1), await two.has(1)
    one.speak(orders[0])
    two.speak(orders[1])
    for listener, text in zip(listeners, ("one", "two"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_one_text_is_made_by_both_and_heard_in_order(desk: Desk) -> None:
    one, two, listener, first, second = await split(desk, "first|second")
    two.speak(second)
    await quiet()
    one.seal(first, 100, 5 * PER_TOKEN)
    one.end(first)
    assert np.array_equal(await heard(listener), spoken("first|second"))
    await one.hears_of_forgotten(1)
    await two.hears_of_forgotten(1)


async def sharing(
    desk: Desk, threads: int
) -> tuple[ScriptedWorker, ScriptedWorker, SegmentOrder, list[asyncio.Task[Pcm]]]:
    """One worker is at a segment whose first samples are heard; the other has both segments of another stream."""
    one, two = pair(desk, engine=msgspec.structs.replace(ENGINE, concurrency=threads))
    listeners = [listen(desk.open("keeps it busy"))]
    order = await one.has(1)
    one.seal(order, 0, 5000)
    listeners.append(listen(desk.open("here|stay")))
    here = await two.has(1)
    two.seal(here, 0, 100)
    await two.has(2)
    return one, two, order, listeners


async def test_a_stream_stays_where_it_is_unless_the_other_is_clearly_sooner(desk: Desk) -> None:
    one, two, order, listeners = await sharing(desk, threads=2)
    assert [each.script for each in two.orders] == ["here", "stay"] and len(one.orders) == 1
    one.seal(order, 5000, 13 * PER_TOKEN)
    one.end(order)
    two.seal(two.orders[0], 100, 4 * PER_TOKEN)
    two.end(two.orders[0])
    two.speak(two.orders[1])
    for listener, text in zip(listeners, ("keeps it busy", "here|stay"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


@pytest.mark.parametrize("late", [False, True])
async def test_a_stream_does_not_move_to_a_worker_that_is_hardly_faster(late: bool) -> None:
    """Another worker's rings, caches and first block cost more than a tenth of a segment.

    Args:
        late: the text's next part comes when no segment is left that says where the stream was.
    """
    reader = LateReader()
    with closing(Desk(reader=reader)) as desk, closing(reader):
        await stays(desk, reader, late)


async def stays(desk: Desk, reader: LateReader, late: bool) -> None:
    one = desk.worker(1, slot=0)
    listeners = [listen(desk.open("how fast?"))]
    slowly(one, await one.has(1), 0.50)
    await heard(listeners[0])
    two = desk.worker(2, slot=1, engine=msgspec.structs.replace(ENGINE, provider="OtherExecutionProvider"))
    listeners.append(listen(desk.open("keeps it busy")))
    busy = await one.has(2)
    listeners.append(listen(desk.open("how fast?")))
    slowly(two, await two.has(1), 0.45)
    slowly(one, busy, 0.50)
    await asyncio.gather(*map(heard, listeners))
    listeners.append(listen(desk.open("keeps it busy")))
    busy = await two.has(2)
    stream = desk.open("stay here|stay here")
    listeners.append(listen(stream))
    here = await one.has(3)
    if not late:
        reader.close()
    slowly(two, busy, 0.45)
    await heard(listeners[3])
    slowly(one, here, 0.50)
    async with asyncio.timeout(DEADLINE):
        while late and stream.segments:
            await quiet()
    reader.close()
    slowly(one, await one.has(4), 0.50)
    await heard(listeners[4])
    assert len(two.orders) == 2


async def test_of_unlike_workers_a_listener_gets_the_one_whose_sound_comes_sooner(desk: Desk) -> None:
    """An accelerator and a processor that is three times slower.

    1. Both are idle: the fast one is chosen, and again while it makes one text.
    2. With so much before it that it would be later than the slow one, the slow one is chosen.
    """
    slow = desk.worker(1, slot=0)
    listener = listen(desk.open("how fast?", client="0"))
    slowly(slow, await slow.has(1), 0.6)
    await heard(listener)
    fast = desk.worker(2, slot=1, engine=msgspec.structs.replace(ENGINE, provider="OtherExecutionProvider"))
    listener = listen(desk.open("how fast?", client="1"))
    slowly(fast, await fast.has(1), 0.2)
    await heard(listener)
    counts = []
    for n in range(4):
        await planned(desk.open("same length", client=f"of {n}"))
        await quiet()
        counts.append((len(fast.orders) - 1, len(slow.orders) - 1))
    assert counts[:2] == [(1, 0), (2, 0)]
    assert counts[3][1] == 1


async def test_what_was_lost_does_not_wait_until_the_living_worker_has_less_to_do(desk: Desk) -> None:
    one, two, _, listeners = await sharing(desk, threads=1)
    desk.kill(one)
    resumed = await two.has(3)
    assert (resumed.script, resumed.from_sample) == ("keeps it busy", 5000)
    two.seal(two.orders[0], 100, 4 * PER_TOKEN)
    two.end(two.orders[0])
    await rest(two, 2, listeners[0])
    for listener, text in zip(listeners, ("keeps it busy", "here|stay"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_a_listener_who_leaves_is_forgotten_by_both(desk: Desk) -> None:
    one, two, listener, first, second = await split(desk, "first|second")
    listener.cancel()
    await one.hears_of_forgotten(1)
    await two.hears_of_forgotten(1)
    assert (one.forgotten, two.forgotten) == ([first.stream], [second.stream])
    others = [listen(desk.open(text)) for text in ("a", "b")]
    orders = await one.has(2), await two.has(2)
    one.speak(orders[0])
    two.speak(orders[1])
    await asyncio.gather(*map(heard, others))


async def test_the_first_worker_s_engine_is_the_one_that_plans_are_made_for(desk: Desk) -> None:
    fast = msgspec.structs.replace(ENGINE, provider="CUDAExecutionProvider")
    first = desk.worker(1, slot=0, engine=fast)
    desk.worker(2, slot=1)
    assert desk.scheduler.engine is fast
    desk.kill(first)
    await quiet()
    assert desk.scheduler.engine is ENGINE and not desk.scheduler.reason


def slowly(worker: ScriptedWorker, order: SegmentOrder, factor: float) -> None:
    samples = len(samples_of(order.script))
    worker.seal(order, 0, samples)
    worker.send(Done(worker.generation, order.stream, order.segment, samples, factor * samples / 24_000))


async def admitted(desk: Desk, most: int) -> int:
    """Number of listeners to long texts that are admitted."""
    streams: list[Stream] = []
    for n in range(most):
        stream = await planned(desk.open("x" * 200, client=str(n)))
        if isinstance(stream._failure, Overloaded):
            break
        streams.append(stream)
    for stream in streams:
        stream.close()
    return len(streams)


async def test_two_workers_take_as_many_listeners_as_two_workers_can_serve(desk: Desk) -> None:
    taken = []
    worker = desk.worker(1, slot=0)
    listener = listen(desk.open("how fast?"))
    slowly(worker, await worker.has(1), 0.45)
    await heard(listener)
    taken.append(await admitted(desk, 8))
    desk.worker(2, slot=1)
    taken.append(await admitted(desk, 8))
    assert 1 <= taken[0] <= taken[1] / 2 < 4


async def test_a_commit_for_a_number_that_nobody_has_is_ignored(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("fine"))
    order = await worker.has(1)
    worker.send(Commit(1, 999, 0, 0, 0, 10, 0))
    worker.speak(order)
    assert np.array_equal(await heard(listener), spoken("fine"))


ESPEAK = espeak()


def given_up(*slots: int) -> Situation:
    reports = (ProcessReport(role="worker", state="fatal", slot=slot) for slot in slots)
    return Situation("running", "", {}, {}, (ProcessReport(role="front", state="running"), *reports))


async def both_get(desk: Desk, worker: ScriptedWorker, count: int = 1) -> None:
    """Two listeners who come now are both spoken to by that worker, which has had `count - 1` orders before."""
    listeners = [listen(desk.open(text)) for text in ("one", "two")]
    for number in (count, count + 1):
        worker.speak(await worker.has(number))
    for listener, text in zip(listeners, ("one", "two"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_a_slot_that_comes_back_with_a_lesser_engine_changes_nobody_s_voice(desk: Desk) -> None:
    first, kokoro = desk.worker(1, slot=0), desk.worker(2, slot=1)
    desk.kill(first)
    espeak = desk.worker(3, slot=0, engine=ESPEAK)
    assert desk.scheduler.engine is ENGINE
    await both_get(desk, kokoro)
    assert not espeak.orders


@pytest.mark.parametrize("order", [(ENGINE, ESPEAK), (ESPEAK, ENGINE)])
async def test_it_is_the_same_whichever_came_last(desk: Desk, order: tuple[EngineInfo, EngineInfo]) -> None:
    workers = [desk.worker(n + 1, slot=n, engine=engine) for n, engine in enumerate(order)]
    assert desk.scheduler.engine is ENGINE
    await both_get(desk, workers[order.index(ENGINE)])


async def test_while_the_best_is_being_restarted_it_is_waited_for_and_then_used_again(desk: Desk) -> None:
    """Streams wait for the best engine's restart, also those that it has begun: a restart doesn't cut them."""
    kokoro = desk.worker(1, slot=0)
    espeak = desk.worker(2, slot=1, engine=ESPEAK)
    begun = listen(desk.open("begun"))
    order = await kokoro.has(1)
    kokoro.seal(order, 0, 100)
    await quiet()
    desk.kill(kokoro)
    waits = desk.open("waits")
    await planned(waits)
    assert desk.scheduler.engine is ENGINE and not waits.failed and not espeak.orders
    again = desk.worker(3, slot=0)
    waiting = listen(waits)
    await again.speaks(1, 2)
    assert np.array_equal(await heard(begun), spoken("begun"))
    assert np.array_equal(await heard(waiting), spoken("waits"))
    assert not espeak.orders


async def test_when_the_last_of_the_best_comes_back_as_a_lesser_one_that_speaks(desk: Desk) -> None:
    kokoro = desk.worker(1, slot=0)
    espeak = desk.worker(2, slot=1, engine=ESPEAK)
    desk.kill(kokoro)
    desk.worker(3, slot=0, engine=ESPEAK)
    assert desk.scheduler.engine is not None and desk.scheduler.engine.name == "espeak-ng"
    stream = listen(desk.open("hello"))
    speaking = espeak if espeak.orders else desk.workers[-1]
    speaking.speak(await speaking.has(1))
    assert np.array_equal(await heard(stream), spoken("hello"))
    back = desk.worker(4, slot=0)
    await both_get(desk, back)


async def test_a_slot_that_is_given_up_is_waited_for_no_longer(desk: Desk) -> None:
    kokoro = desk.worker(1, slot=0)
    espeak = desk.worker(2, slot=1, engine=ESPEAK)
    begun = listen(desk.open("begun a moment ago"))
    kokoro.seal(await kokoro.has(1), 0, 5000)
    await quiet()
    desk.kill(kokoro)
    waits = desk.open("waits")
    waiting = listen(waits)
    await planned(waits)
    await quiet()
    desk.scheduler.situation(given_up(0))
    with pytest.raises(Broken):
        await heard(begun)
    with pytest.raises(Unavailable):
        await heard(waiting)
    await both_get(desk, espeak)


async def test_what_is_given_up_takes_nothing_from_those_that_speak(desk: Desk) -> None:
    kokoro = desk.worker(1, slot=0)
    espeak = desk.worker(2, slot=1, engine=ESPEAK)
    desk.kill(espeak)
    desk.scheduler.situation(given_up(1))
    await both_get(desk, kokoro)
    desk.kill(kokoro)
    desk.scheduler.situation(given_up(0, 1))
    assert desk.scheduler.engine is ENGINE, "nobody else is there: it may come back after all"
