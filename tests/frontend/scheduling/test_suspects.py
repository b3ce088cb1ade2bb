"""Suspects: which segment is to blame for a worker's death, how often it is tried again, and alongside which others."""

import asyncio

import numpy as np
import pytest

from frontend.contract.errors import Broken
from frontend.scheduling.shared import Quarantine
from frontend.streams.links import Loss
from shm.messages import Disconnect, Quit
from tests.frontend.scheduling.test_dispatcher import Desk, heard, listen, spoken
from tests.frontend.scripted_worker import DEADLINE, ScriptedWorker
from tests.frontend.several_workers import quiet


async def after_the_death_of(desk: Desk, worker: ScriptedWorker) -> ScriptedWorker:
    """The next generation, the one before having died on its first order."""
    worker.begin(await worker.has(1))
    desk.kill(worker)
    return desk.worker(worker.generation + 1)


async def after_three_deaths(desk: Desk, text: str) -> ScriptedWorker:
    """The worker after those that a text has killed, when its listener was told that it isn't tried again."""
    worker = desk.worker(1)
    listener = listen(desk.open(text))
    for _ in range(3):
        worker = await after_the_death_of(desk, worker)
    with pytest.raises(Broken, match="not tried again"):
        await heard(listener)
    return worker


async def test_a_segment_is_tried_three_times_and_not_a_fourth(desk: Desk) -> None:
    worker = await after_three_deaths(desk, "poison")
    assert not worker.orders
    with pytest.raises(Broken, match="not tried again"):
        await heard(listen(desk.open("poison")))
    assert not worker.orders, "asked for again, it costs no worker"


async def test_after_the_quarantine_s_time_a_text_is_tried_again() -> None:
    desk = Desk(quarantine=0.0)
    worker = await after_three_deaths(desk, "poison")
    listener = listen(desk.open("poison"))
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(listener), spoken("poison"))
    desk.close()


async def test_two_kills_that_hit_the_same_segment_fail_no_stream(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("innocent"))
    for _ in range(2):
        worker = await after_the_death_of(desk, worker)
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(listener), spoken("innocent"))


async def test_kills_between_which_a_segment_gets_on_fail_no_stream(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("innocent"))
    for sealed in (100, 200, 300, 400):
        order = await worker.has(1)
        worker.seal(order, order.from_sample, sealed)
        await quiet()
        worker = await after_the_death_of(desk, worker)
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(listener), spoken("innocent"))


async def test_a_segment_at_which_the_watchdog_lost_a_worker_is_not_quarantined(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("slow"))
    for _ in range(2):
        worker = await after_the_death_of(desk, worker)
    worker.begin(await worker.has(1))
    await quiet()
    (link,) = desk.scheduler._shared.links.all
    link.lose("it hangs", Loss.HANG)
    with pytest.raises(Broken, match="hangs"):
        await heard(listener)
    worker = desk.worker(worker.generation + 1)
    again = listen(desk.open("slow"))
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(again), spoken("slow"))


async def test_a_segment_that_no_thread_was_at_is_not_to_blame(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("innocent"))
    for generation in (1, 2, 3):
        await worker.has(1)
        desk.kill(worker)
        worker = desk.worker(generation + 1)
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(listener), spoken("innocent"))


async def test_a_worker_that_ends_on_its_own_account_leaves_no_suspects(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("innocent"))
    for generation in (1, 2, 3):
        worker.begin(await worker.has(1))
        worker.send(Quit(generation))
        worker = desk.worker(generation + 1)
    worker.speak(await worker.has(1))
    assert np.array_equal(await heard(listener), spoken("innocent"))


async def test_suspects_are_tried_one_at_a_time_and_alone(desk: Desk) -> None:
    first = desk.worker(1)
    listeners = [listen(desk.open(text)) for text in ("one", "two")]
    await first.has(2)
    for order in first.orders:
        first.begin(order)
    desk.kill(first)
    second = desk.worker(2)
    newcomer = listen(desk.open("new"))
    alone = await second.has(1)
    await quiet()
    assert [order.script for order in second.orders] == [alone.script]
    second.speak(alone)
    other = await second.has(2)
    assert {alone.script, other.script} == {"one", "two"}
    await quiet()
    assert len(second.orders) == 2
    second.speak(other)
    second.speak(await second.has(3))
    for listener, text in zip([*listeners, newcomer], ("one", "two", "new"), strict=True):
        assert np.array_equal(await heard(listener), spoken(text))


async def test_others_go_on_once_the_block_is_made_at_which_a_worker_died(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("long"))
    order = await first.has(1)
    first.seal(order, 0, 100)
    first.begin(order)
    await quiet()
    desk.kill(first)
    second = desk.worker(2)
    newcomer = listen(desk.open("new"))
    again = await second.has(1)
    await quiet()
    assert len(second.orders) == 1, "alone"
    second.seal(again, 100, 200)
    second.speak(await second.has(2))
    assert np.array_equal(await heard(newcomer), spoken("new"))
    second.seal(again, 200, len(spoken("long")))
    second.end(again)
    assert np.array_equal(await heard(listener), spoken("long"))


async def test_a_later_segment_waits_while_another_generation_makes_an_earlier_one(desk: Desk) -> None:
    old = desk.worker(1)
    listener = listen(desk.open("first|second|third"))
    order = await old.has(1)
    async with asyncio.timeout(DEADLINE):
        while desk.scheduler.queue_depth < 2:  # noqa: ASYNC110 - planned in a thread, which has no event
            await asyncio.sleep(0)
    old.seal(order, 0, 200)
    new = desk.worker(2)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    await quiet()
    begun = list(old.orders)
    assert not new.orders
    for order in begun:
        old.seal(order, 200 if order.segment == 0 else 0, len(spoken(order.script)))
        old.end(order)
    for count in range(1, 4 - len(begun)):
        new.speak(await new.has(count))
    assert np.array_equal(await heard(listener), spoken("first|second|third"))


def test_a_member_is_kept_for_its_time_and_no_longer() -> None:
    now = 100.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    assert b"poison" in quarantine and len(quarantine) == 1
    now = 109.9
    assert b"poison" in quarantine
    now = 110.0
    assert b"poison" not in quarantine and len(quarantine) == 0


def test_one_that_is_added_again_begins_again() -> None:
    now = 0.0
    quarantine = Quarantine(10.0, lambda: now)
    quarantine.add(b"poison")
    quarantine.add(b"other")
    now = 8.0
    quarantine.add(b"poison")
    now = 12.0
    assert b"poison" in quarantine and b"other" not in quarantine
