"""Several workers at once: who gets what, and that nothing is lost, doubled or out of order when some of them die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import numpy as np
import pytest

from frontend.scheduling.placement import finish
from frontend.speaker import Broken, Overloaded
from frontend.stream import Stream
from shm.audio import Pcm
from shm.messages import Commit, Connect, Disconnect, Distrust, Done, Idle, Job, Marks, pack_marks
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import ENGINE, PER_TOKEN, ScriptedWorker, samples_of

OTHER = msgspec.structs.replace(ENGINE, model="other.onnx", model_sha256="1")


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    made.close()


def pair(desk: Desk, **options: object) -> tuple[ScriptedWorker, ScriptedWorker]:
    return desk.worker(1, slot=0, **options), desk.worker(2, slot=1, **options)


def kill(desk: Desk, worker: ScriptedWorker) -> None:
    worker.die()
    desk.workers.remove(worker)


async def quiet() -> None:
    """Let everything that has been said be read and followed."""
    for _ in range(20):
        await asyncio.sleep(0)


async def split(desk: Desk, text: str) -> tuple[ScriptedWorker, ScriptedWorker, asyncio.Task[Pcm], Job, Job]:
    """A stream whose first segment is in the making at one worker, its second at the other."""
    one, two = pair(desk)
    listener = listen(desk.open(text))
    first = await one.has(1)
    one.begin(first)
    one.seal(first, 0, 100)
    second = await two.has(1)
    assert (first.segment, second.segment) == (0, 1)
    return one, two, listener, first, second


async def rest(worker: ScriptedWorker, first: int, *listeners: asyncio.Task[Pcm]) -> None:
    """Speak every job from number `first` on, until the listeners have heard all."""

    async def speak() -> None:
        for count in range(first, 1000):
            worker.speak(await worker.has(count))

    speaking = asyncio.create_task(speak())
    listening = asyncio.gather(*listeners)
    await asyncio.wait([listening, speaking], return_when=asyncio.FIRST_COMPLETED)
    if not listening.done():
        await speaking
    speaking.cancel()


def test_a_segment_waits_for_the_lane_that_is_free_first() -> None:
    assert finish([], 2.0, 1) == 2.0
    assert finish([3.0, 1.0], 2.0, 1) == 6.0
    assert finish([3.0, 1.0, 1.0], 2.0, 2) == 4.0


async def test_listeners_are_spread_over_the_workers(desk: Desk) -> None:
    one, two = pair(desk)
    listeners = [listen(desk.open(text)) for text in ("one", "two")]
    jobs = await one.has(1), await two.has(1)
    one.speak(jobs[0])
    two.speak(jobs[1])
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


async def sharing(desk: Desk, lanes: int) -> tuple[ScriptedWorker, ScriptedWorker, Job, list[asyncio.Task[Pcm]]]:
    """One worker is at a segment whose first samples are heard; the other has both segments of another stream."""
    one, two = pair(desk, engine=msgspec.structs.replace(ENGINE, concurrency=lanes))
    listeners = [listen(desk.open("keeps it busy"))]
    job = await one.has(1)
    one.seal(job, 0, 5000)
    listeners.append(listen(desk.open("here|stay")))
    here = await two.has(1)
    two.seal(here, 0, 100)
    await two.has(2)
    return one, two, job, listeners


async def test_a_stream_stays_where_it_is_unless_the_other_is_clearly_sooner(desk: Desk) -> None:
    one, two, job, listeners = await sharing(desk, lanes=2)
    assert [each.script for each in two.jobs] == ["here", "stay"] and len(one.jobs) == 1
    one.seal(job, 5000, 13 * PER_TOKEN)
    one.end(job)
    two.seal(two.jobs[0], 100, 4 * PER_TOKEN)
    two.end(two.jobs[0])
    two.speak(two.jobs[1])
    for listener, text in zip(listeners, ("keeps it busy", "here|stay"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_what_was_lost_does_not_wait_until_the_living_worker_has_less_to_do(desk: Desk) -> None:
    one, two, _, listeners = await sharing(desk, lanes=1)
    kill(desk, one)
    resumed = await two.has(3)
    assert (resumed.script, resumed.from_sample) == ("keeps it busy", 5000)
    two.seal(two.jobs[0], 100, 4 * PER_TOKEN)
    two.end(two.jobs[0])
    await rest(two, 2, listeners[0])
    for listener, text in zip(listeners, ("keeps it busy", "here|stay"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_what_a_dead_worker_had_goes_to_the_living_one_at_once(desk: Desk) -> None:
    one, two = pair(desk)
    listener = listen(desk.open("hello there|general"))
    job = await one.has(1)
    one.seal(job, 0, 333)
    two.speak(await two.has(1))
    kill(desk, one)
    resumed = await two.has(2)
    assert (resumed.segment, resumed.from_sample, resumed.generation) == (0, 333, 2)
    await rest(two, 2, listener)
    assert np.array_equal(await heard(listener), spoken("hello there|general"))
    assert not desk.told_of(Connect)


@pytest.mark.parametrize("sealed", [0, 200, 6 * PER_TOKEN])
async def test_a_death_while_both_make_one_text_loses_and_doubles_nothing(desk: Desk, sealed: int) -> None:
    """The later segment lies in the living worker's ring, where the earlier one would come behind it."""
    one, two, listener, _, second = await split(desk, "first|second|third and last")
    if sealed:
        two.seal(second, 0, sealed)
    await quiet()
    kill(desk, one)
    again = await two.has(2)
    assert (again.segment, again.from_sample) == (0, 100)
    assert (again.job, again.ring) != (second.job, second.ring)
    assert two.forgotten == [second.job], "nothing more is written where it lay"
    await rest(two, 2, listener)
    later = next(job for job in two.jobs[2:] if job.segment == 1)
    assert later.from_sample == sealed
    assert np.array_equal(await heard(listener), spoken("first|second|third and last"))


async def test_what_comes_late_of_a_segment_that_was_begun_again_is_not_believed(desk: Desk) -> None:
    one, two, listener, _, second = await split(desk, "first|second")
    late = two.commit(second, 0, 300)
    kill(desk, one)
    first = await two.has(2)
    two.seal(first, 100, 200)
    again = await two.has(3)
    assert again.segment == 1 and again.job != second.job
    two.send(late)
    two.send(Done(2, second.job, second.segment, 300, 0.01))
    two.seal(first, 200, 5 * PER_TOKEN)
    two.end(first)
    await rest(two, 3, listener)
    assert np.array_equal(await heard(listener), spoken("first|second"))
    assert [message.generation for message in desk.told_of(Distrust)] == [1]  # type: ignore[attr-defined]


async def test_the_rings_of_a_stream_that_moved_are_free_when_it_has_ended(desk: Desk) -> None:
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=2)
    listener = listen(desk.open("first|second"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    two.seal(await two.has(1), 0, 300)
    await quiet()
    kill(desk, one)
    await two.has(2)
    await rest(two, 2, listener)
    await heard(listener)
    count = len(two.jobs)
    others = [listen(desk.open(text)) for text in ("a", "b")]
    await two.has(count + 2)
    for job in two.jobs[count:]:
        two.speak(job)
    for other, text in zip(others, "ab", strict=True):
        assert np.array_equal(await heard(other), spoken(text))


async def test_what_lies_in_a_ring_that_was_left_is_not_overwritten(desk: Desk) -> None:
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=2)
    listener = listen(desk.open("first|second"))
    one.seal(await one.has(1), 0, 100)
    two.seal(await two.has(1), 0, 5000)
    await quiet()
    kill(desk, one)
    await two.has(2)
    other = listen(desk.open("another"))
    await quiet()
    assert all(job.script != "another" for job in two.jobs), "there is no ring for it"
    await rest(two, 2, listener, other)
    assert np.array_equal(await heard(listener), spoken("first|second"))
    assert np.array_equal(await heard(other), spoken("another"))


async def test_a_segment_that_finds_no_ring_gets_that_of_its_own_stream(desk: Desk) -> None:
    """With the other worker gone for good, nobody else's ring would ever be free."""
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=1)
    listener = listen(desk.open("first|second"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    second = await two.has(1)
    two.seal(second, 0, 5 * PER_TOKEN)
    await quiet()
    kill(desk, one)
    resumed = await two.has(2)
    assert (resumed.segment, resumed.from_sample, resumed.ring) == (0, 100, second.ring)
    assert resumed.job != second.job
    await rest(two, 2, listener)
    assert np.array_equal(await heard(listener), spoken("first|second"))


async def test_a_ring_from_which_something_is_being_heard_is_not_another_s_yet(desk: Desk) -> None:
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=1)
    stream = desk.open("first|second|third|fourth")
    first = await one.has(1)
    one.seal(first, 0, 100)
    second = await two.has(1)
    one.seal(first, 100, 5 * PER_TOKEN)
    one.end(first)
    assert (await one.has(2)).script == "third"
    two.speak(second)
    fourth = await two.has(2)
    assert fourth.script == "fourth"
    two.seal(fourth, 0, 1000)
    got: list[Pcm] = []
    pieces = aiter(stream)
    while stream.planned[0].index < 1:
        got.append((await anext(pieces)).copy())
    kill(desk, one)
    await quiet()
    assert len(two.jobs) == 2, "a part of the second segment is being heard"
    listener = asyncio.create_task(rest_of(pieces, got))
    third = await two.has(3)
    assert (third.script, third.ring) == ("third", fourth.ring)
    await rest(two, 3, listener)
    await listener
    assert np.array_equal(np.concatenate(got), spoken("first|second|third|fourth"))
    stream.close()


async def rest_of(pieces: AsyncIterator[Pcm], got: list[Pcm]) -> Pcm:
    got += [piece.copy() async for piece in pieces]
    return got[-1]


async def test_marks_of_what_is_begun_again_behind_an_earlier_segment_are_told_once(desk: Desk) -> None:
    one, two = pair(desk)
    stream = desk.open("first|second", timestamps=True)
    first = await one.has(1)
    one.seal(first, 0, 100)
    second = await two.has(1)
    two.send(Marks(2, second.job, second.segment, pack_marks([(0, 0)])))
    two.seal(second, 0, 200)
    await quiet()
    kill(desk, one)
    two.speak(await two.has(2))
    again = await two.has(3)
    two.send(Marks(2, again.job, again.segment, pack_marks([(0, 0), (3, 4000)])))
    await quiet()
    assert stream.planned[1].marks == [(0, 0), (3, 4000)]
    stream.close()


async def test_a_suspect_does_not_wait_for_a_later_segment_that_waits_for_it(desk: Desk) -> None:
    """The later one's ring is full, and nobody takes anything from it before the suspect was heard."""
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, ring=300)
    listener = listen(desk.open("first|second"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    one.begin(first)
    second = await two.has(1)
    two.begin(second)
    two.seal(second, 0, 300)
    await quiet()
    kill(desk, one)
    trial = await two.has(2)
    assert (trial.segment, trial.from_sample) == (0, 100) and two.forgotten == [second.job]
    await quiet()
    assert len(two.jobs) == 2, "it is tried alone"
    listener.cancel()


async def test_a_worker_that_drains_writes_over_nothing_that_is_still_to_be_heard(desk: Desk) -> None:
    one, two = pair(desk)
    others = [desk.open("keep")]
    await one.has(1)
    others.append(desk.open("x" * 50))
    await two.has(1)
    stream = desk.open("first|second|third|fourth")
    first = await one.has(2)
    one.seal(first, 0, 5 * PER_TOKEN)
    desk.worker(3, slot=0, engine=OTHER)
    desk.dispatcher.disconnect(Disconnect(1, draining=True))
    one.end(first)
    await two.has(3)
    desk.worker(4, slot=1, engine=OTHER)
    desk.dispatcher.disconnect(Disconnect(2, draining=True))
    for job in two.jobs[1:]:
        two.speak(job)
    fourth = await one.has(3)
    assert (fourth.script, fourth.generation) == ("fourth", 1)
    one.speak(fourth)
    assert np.array_equal(await heard(listen(stream)), spoken("first|second|third|fourth"))
    for other in others:
        other.close()


async def test_a_worker_that_drains_does_not_wait_for_who_has_nothing_to_be_made_there(desk: Desk) -> None:
    one = desk.worker(1)
    stream = await planned(desk.open("said"))
    one.speak(await one.has(1))
    await quiet()
    desk.worker(2)
    desk.dispatcher.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle) == [Idle(1)]
    assert np.array_equal(await heard(listen(stream)), spoken("said"))


async def test_both_may_die_at_once(desk: Desk) -> None:
    one, two, listener, _, second = await split(desk, "first|second|third")
    two.begin(second)
    two.seal(second, 0, 50)
    await quiet()
    kill(desk, one)
    kill(desk, two)
    three = desk.worker(3, slot=0)
    await rest(three, 1, listener)
    assert three.jobs[0].from_sample == 100
    assert np.array_equal(await heard(listener), spoken("first|second|third"))


async def test_a_listener_who_leaves_is_forgotten_by_both(desk: Desk) -> None:
    one, two, listener, first, second = await split(desk, "first|second")
    listener.cancel()
    await one.hears_of_forgotten(1)
    await two.hears_of_forgotten(1)
    assert (one.forgotten, two.forgotten) == ([first.job], [second.job])
    others = [listen(desk.open(text)) for text in ("a", "b")]
    jobs = await one.has(2), await two.has(2)
    one.speak(jobs[0])
    two.speak(jobs[1])
    await asyncio.gather(*map(heard, others))


async def test_a_suspect_is_tried_by_one_worker_alone_and_the_others_go_on(desk: Desk) -> None:
    one, two = pair(desk, engine=msgspec.structs.replace(ENGINE, concurrency=2))
    three = desk.worker(3, slot=2, engine=msgspec.structs.replace(ENGINE, concurrency=2))
    listeners = [listen(desk.open(text)) for text in ("aaa", "bbb", "ccc")]
    for worker in (one, two, three):
        worker.begin(await worker.has(1))
    more = listen(desk.open("poison"))
    poison = await one.has(2)
    one.begin(poison)
    await quiet()
    kill(desk, one)
    await quiet()
    assert (len(two.jobs), len(three.jobs)) == (1, 1), "both are at something: suspects wait"
    two.speak(two.jobs[0])
    trial = await two.has(2)
    newcomers = [listen(desk.open(text)) for text in ("d", "e")]
    await three.has(3)
    assert len(two.jobs) == 2, "the suspect is alone"
    assert {job.script for job in three.jobs} == {"ccc", "d", "e"}, "and no second one is tried elsewhere"
    two.speak(trial)
    two.speak(await two.has(3))
    for job in three.jobs:
        three.speak(job)
    for listener, text in zip([*listeners, more, *newcomers], ("aaa", "bbb", "ccc", "poison", "d", "e"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_poison_takes_two_workers_and_no_third(desk: Desk) -> None:
    one, two = pair(desk)
    three = desk.worker(3, slot=2)
    listener = listen(desk.open("poison"))
    one.begin(await one.has(1))
    await quiet()
    kill(desk, one)
    two.begin(await two.has(1))
    await quiet()
    kill(desk, two)
    with pytest.raises(Broken):
        await heard(listener)
    assert not three.jobs


async def test_a_generation_takes_the_place_of_the_one_before_in_its_slot_alone(desk: Desk) -> None:
    one, two = pair(desk)
    next_one = desk.worker(3, slot=0)
    desk.dispatcher.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle) == [Idle(1)]
    listeners = [listen(desk.open(text)) for text in ("a", "b")]
    jobs = await next_one.has(1), await two.has(1)
    next_one.speak(jobs[0])
    two.speak(jobs[1])
    await asyncio.gather(*map(heard, listeners))
    assert not one.jobs


async def test_while_a_model_arrives_streams_keep_theirs_in_the_slots_that_have_it(desk: Desk) -> None:
    one, two = pair(desk)
    old = listen(desk.open("old|voice"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    arrived = desk.worker(3, slot=0, engine=OTHER)
    desk.dispatcher.disconnect(Disconnect(1, draining=True))
    assert desk.dispatcher.engine is OTHER
    new = listen(desk.open("new"))
    arrived.speak(await arrived.has(1))
    two.speak(await two.has(1))
    assert np.array_equal(await heard(new), spoken("new"))
    one.seal(first, 100, 3 * PER_TOKEN)
    one.end(first)
    assert np.array_equal(await heard(old), spoken("old|voice"))
    kill(desk, arrived)
    await quiet()
    assert desk.dispatcher.engine is OTHER, "it will be there again"
    waits = desk.open("waits")
    await planned(waits)
    assert not waits.failed
    waits.close()


async def test_the_first_worker_s_engine_is_the_one_that_plans_are_made_for(desk: Desk) -> None:
    fast = msgspec.structs.replace(ENGINE, provider="CUDAExecutionProvider")
    first = desk.worker(1, slot=0, engine=fast)
    desk.worker(2, slot=1)
    assert desk.dispatcher.engine is fast
    kill(desk, first)
    await quiet()
    assert desk.dispatcher.engine is ENGINE and not desk.dispatcher.reason


def slowly(worker: ScriptedWorker, job: Job, factor: float) -> None:
    samples = len(samples_of(job.script))
    worker.seal(job, 0, samples)
    worker.send(Done(worker.generation, job.job, job.segment, samples, factor * samples / 24_000))


async def admitted(desk: Desk, most: int) -> int:
    """How many listeners to long texts are taken."""
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
    job = await worker.has(1)
    worker.send(Commit(1, 999, 0, 0, 0, 10, 0))
    worker.speak(job)
    assert np.array_equal(await heard(listener), spoken("fine"))
