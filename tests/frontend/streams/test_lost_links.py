"""A worker of several dies: what it had is made by others, and nothing is lost, doubled or out of order."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import numpy as np
import pytest

from frontend.contract.errors import Broken
from shm.audio import Pcm
from shm.messages import Connect, Disconnect, Distrust, Done, Idle, Marks
from shm.timing import pack_marks
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import ENGINE, PER_TOKEN
from tests.frontend.several_workers import OTHER, pair, quiet, rest, split


async def test_what_a_dead_worker_had_goes_to_the_living_one_at_once(desk: Desk) -> None:
    one, two = pair(desk)
    listener = listen(desk.open("hello there|general"))
    order = await one.has(1)
    one.seal(order, 0, 333)
    two.speak(await two.has(1))
    desk.kill(one)
    resumed = await two.has(2)
    assert (resumed.segment, resumed.from_sample, resumed.generation) == (0, 333, 2)
    await rest(two, 2, listener)
    assert np.array_equal(await heard(listener), spoken("hello there|general"))
    assert not desk.told_of(Connect)


@pytest.mark.parametrize("sealed", [0, 200, 6 * PER_TOKEN])
async def test_a_death_while_both_make_one_text_loses_and_doubles_nothing(desk: Desk, sealed: int) -> None:
    """The later segment lies in the living worker's ring, where the earlier one would come after it."""
    one, two, listener, _, second = await split(desk, "first|second|third and last")
    if sealed:
        two.seal(second, 0, sealed)
    await quiet()
    desk.kill(one)
    again = await two.has(2)
    assert (again.segment, again.from_sample) == (0, 100)
    assert (again.stream, again.ring) != (second.stream, second.ring)
    assert two.forgotten == [second.stream], "nothing more is written where it lay"
    await rest(two, 2, listener)
    later = next(order for order in two.orders[2:] if order.segment == 1)
    assert later.from_sample == sealed
    assert np.array_equal(await heard(listener), spoken("first|second|third and last"))


async def test_what_comes_late_of_a_segment_that_was_begun_again_is_not_believed(desk: Desk) -> None:
    one, two, listener, _, second = await split(desk, "first|second")
    late = two.commit(second, 0, 300)
    desk.kill(one)
    first = await two.has(2)
    two.seal(first, 100, 200)
    again = await two.has(3)
    assert again.segment == 1 and again.stream != second.stream
    two.send(late)
    two.send(Done(2, second.stream, second.segment, 300, 0.01))
    two.seal(first, 200, 5 * PER_TOKEN)
    two.end(first)
    await rest(two, 3, listener)
    assert np.array_equal(await heard(listener), spoken("first|second"))
    assert [message.generation for message in desk.told_of(Distrust)] == [1]  # type: ignore[attr-defined]


@pytest.mark.parametrize("again_from", [0, 2])
async def test_marks_of_what_is_begun_again_behind_an_earlier_segment_are_told_once(
    desk: Desk, again_from: int
) -> None:
    """A worker that resumes the segment sends all marks, or those from its first sample on."""
    marks = [(0, 0), (2, 150), (3, 4000), (5, 4800)]
    one, two = pair(desk)
    stream = desk.open("first|second", timestamps=True)
    first = await one.has(1)
    one.seal(first, 0, 100)
    second = await two.has(1)
    two.send(Marks(2, second.stream, second.segment, pack_marks(marks[:3])))
    two.seal(second, 0, 200)
    await quiet()
    desk.kill(one)
    two.speak(await two.has(2))
    again = await two.has(3)
    two.send(Marks(2, again.stream, again.segment, pack_marks(marks[again_from:])))
    await quiet()
    assert stream.segments[1].marks == marks
    stream.close()


async def test_both_may_die_at_once(desk: Desk) -> None:
    one, two, listener, _, second = await split(desk, "first|second|third")
    two.begin(second)
    two.seal(second, 0, 50)
    await quiet()
    desk.kill(one)
    desk.kill(two)
    three = desk.worker(3, slot=0)
    await rest(three, 1, listener)
    assert three.orders[0].from_sample == 100
    assert np.array_equal(await heard(listener), spoken("first|second|third"))


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
    desk.kill(one)
    trial = await two.has(2)
    assert (trial.segment, trial.from_sample) == (0, 100) and two.forgotten == [second.stream]
    await quiet()
    assert len(two.orders) == 2, "it is tried alone"
    listener.cancel()


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
    desk.kill(one)
    await quiet()
    assert (len(two.orders), len(three.orders)) == (1, 1), "both are at something: suspects wait"
    two.speak(two.orders[0])
    trial = await two.has(2)
    newcomers = [listen(desk.open(text)) for text in ("d", "e")]
    await three.has(3)
    assert len(two.orders) == 2, "the suspect is alone"
    assert {order.script for order in three.orders} == {"ccc", "d", "e"}, "and no second one is tried elsewhere"
    two.speak(trial)
    two.speak(await two.has(3))
    for order in three.orders:
        three.speak(order)
    for listener, text in zip([*listeners, more, *newcomers], ("aaa", "bbb", "ccc", "poison", "d", "e"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_poison_takes_three_workers_and_no_fourth(desk: Desk) -> None:
    workers = [*pair(desk), desk.worker(3, slot=2)]
    four = desk.worker(4, slot=3)
    listener = listen(desk.open("poison"))
    for worker in workers:
        worker.begin(await worker.has(1))
        await quiet()
        desk.kill(worker)
    with pytest.raises(Broken):
        await heard(listener)
    assert not four.orders


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
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    one.end(first)
    await two.has(3)
    desk.worker(4, slot=1, engine=OTHER)
    desk.scheduler.disconnect(Disconnect(2, draining=True))
    for order in two.orders[1:]:
        two.speak(order)
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
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle) == [Idle(1)]
    assert np.array_equal(await heard(listen(stream)), spoken("said"))


async def test_a_generation_takes_the_place_of_the_one_before_in_its_slot_alone(desk: Desk) -> None:
    one, two = pair(desk)
    next_one = desk.worker(3, slot=0)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle) == [Idle(1)]
    listeners = [listen(desk.open(text)) for text in ("a", "b")]
    orders = await next_one.has(1), await two.has(1)
    next_one.speak(orders[0])
    two.speak(orders[1])
    await asyncio.gather(*map(heard, listeners))
    assert not one.orders


async def test_while_a_model_arrives_streams_keep_theirs_in_the_slots_that_have_it(desk: Desk) -> None:
    one, two = pair(desk)
    old = listen(desk.open("old|voice"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    arrived = desk.worker(3, slot=0, engine=OTHER)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    assert desk.scheduler.engine is OTHER
    new = listen(desk.open("new"))
    arrived.speak(await arrived.has(1))
    two.speak(await two.has(1))
    assert np.array_equal(await heard(new), spoken("new"))
    one.seal(first, 100, 3 * PER_TOKEN)
    one.end(first)
    assert np.array_equal(await heard(old), spoken("old|voice"))
    desk.kill(arrived)
    await quiet()
    assert desk.scheduler.engine is OTHER, "it will be there again"
    waits = desk.open("waits")
    await planned(waits)
    assert not waits.failed
    waits.close()


async def test_the_rings_of_a_stream_that_moved_are_free_when_it_has_ended(desk: Desk) -> None:
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=2)
    listener = listen(desk.open("first|second"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    two.seal(await two.has(1), 0, 300)
    await quiet()
    desk.kill(one)
    await two.has(2)
    await rest(two, 2, listener)
    await heard(listener)
    count = len(two.orders)
    others = [listen(desk.open(text)) for text in ("a", "b")]
    await two.has(count + 2)
    for order in two.orders[count:]:
        two.speak(order)
    for other, text in zip(others, "ab", strict=True):
        assert np.array_equal(await heard(other), spoken(text))


async def test_what_lies_in_a_ring_that_was_left_is_not_overwritten(desk: Desk) -> None:
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=2)
    listener = listen(desk.open("first|second"))
    one.seal(await one.has(1), 0, 100)
    two.seal(await two.has(1), 0, 5000)
    await quiet()
    desk.kill(one)
    await two.has(2)
    other = listen(desk.open("another"))
    await quiet()
    assert all(order.script != "another" for order in two.orders), "there is no ring for it"
    await rest(two, 2, listener, other)
    assert np.array_equal(await heard(listener), spoken("first|second"))
    assert np.array_equal(await heard(other), spoken("another"))


async def test_a_segment_that_finds_no_ring_gets_that_of_its_own_stream(desk: Desk) -> None:
    """The moved segment takes its own stream's ring: while the other worker is gone for good, no other one would ever
    be free."""
    one = desk.worker(1, slot=0)
    two = desk.worker(2, slot=1, rings=1)
    listener = listen(desk.open("first|second"))
    first = await one.has(1)
    one.seal(first, 0, 100)
    second = await two.has(1)
    two.seal(second, 0, 5 * PER_TOKEN)
    await quiet()
    desk.kill(one)
    resumed = await two.has(2)
    assert (resumed.segment, resumed.from_sample, resumed.ring) == (0, 100, second.ring)
    assert resumed.stream != second.stream
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
    while stream.segments[0].index < 1:
        got.append((await anext(pieces)).copy())
    desk.kill(one)
    await quiet()
    assert len(two.orders) == 2, "a part of the second segment is being heard"
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
