"""Workers of several that are replaced, and what their streams still get from them."""

from __future__ import annotations

import asyncio

import numpy as np

from shm.messages import Disconnect, Idle
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import PER_TOKEN
from tests.frontend.several_workers import OTHER, kill, pair, quiet


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
    kill(desk, arrived)
    await quiet()
    assert desk.scheduler.engine is OTHER, "it will be there again"
    waits = desk.open("waits")
    await planned(waits)
    assert not waits.failed
    waits.close()
