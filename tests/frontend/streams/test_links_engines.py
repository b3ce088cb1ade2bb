"""Several workers with different engines: each new stream takes the best one."""

import numpy as np
import pytest

from frontend.contract.errors import Broken, Unavailable
from shm.engine_info import EngineInfo
from shm.situation import ProcessReport, Situation
from tests.engine_infos import espeak
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import ENGINE, ScriptedWorker
from tests.frontend.several_workers import quiet

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
