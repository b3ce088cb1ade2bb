"""When nobody listens: workers that may rest, and phrases that are spoken ahead."""

import asyncio

import numpy as np
import pytest

from frontend.contract.request import SpeechRequest, Urgency
from frontend.settings.front import FrontSettings
from frontend.speech.voices import asked_speech
from shm.engine_info import EngineInfo
from shm.messages import Disconnect, Idle, WorkersNeeded
from shm.situation import Situation
from tests.frontend.desk import Desk, desk_with, heard, listen, spoken
from tests.frontend.scripted_worker import DEADLINE, ENGINE

SOON = 0.05
"""Seconds of `--idle-unload`."""
STEPS = 10
"""Turns of the event loop in which a time passes."""


desk = desk_with(idle_unload=SOON)


class Clock:
    """The event loop's clock, which a test moves forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        now, self._ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: now() + self._ahead)

    async def passes(self, seconds: float) -> None:
        """Run everything that comes due within so many seconds."""
        for _ in range(STEPS):
            self._ahead += seconds / STEPS
            await asyncio.sleep(0)

    async def until_told(self, desk: Desk, needed: bool) -> None:
        async with asyncio.timeout(DEADLINE):
            while WorkersNeeded(needed) not in desk.told:
                await self.passes(SOON)


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def test_workers_may_rest_once_nobody_has_asked_for_a_while(desk: Desk, clock: Clock) -> None:
    desk.worker(1)
    await clock.until_told(desk, False)


@pytest.mark.parametrize("urgency", Urgency)
async def test_a_stream_keeps_its_worker_however_long_its_listener_pauses(
    desk: Desk, clock: Clock, urgency: Urgency
) -> None:
    """A clip and a passage of a book keep it too."""
    worker = desk.worker(1)
    stream = desk.open("a", urgency=urgency)
    worker.speak(await worker.has(1))
    await clock.passes(4 * SOON)  # longer than the time without a stream that would let it rest
    assert desk.told_of(WorkersNeeded) == [WorkersNeeded(True)]
    stream.close()
    await clock.until_told(desk, False)


async def test_a_request_wakes_a_resting_worker_and_is_spoken_by_its_successor(desk: Desk, clock: Clock) -> None:
    desk.worker(1)
    await clock.until_told(desk, False)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle), "released at once: nobody listens"
    desk.scheduler.situation(Situation("resting", "", {}, returning={0: ENGINE}))
    assert desk.scheduler.engine and not desk.scheduler.reason, "ready"
    stream = desk.open("a|b")
    assert desk.told[-1] == WorkersNeeded(True)
    listener = listen(stream)
    worker = desk.worker(2)
    await worker.speaks(1, 2)
    assert (await heard(listener)).tolist() == spoken("a|b").tolist()


@pytest.mark.parametrize("state", ["resting", "starting", "backoff"])
async def test_requests_to_a_new_front_wait_for_the_engine_that_returns(desk: Desk, state: str) -> None:
    """Front and worker may have died together."""
    desk.scheduler.situation(Situation(state, f"the worker is {state}", {}, returning={0: ENGINE}))
    assert desk.scheduler.engine == ENGINE
    listener = listen(desk.open("a"))
    assert desk.told_of(WorkersNeeded) == [WorkersNeeded(True)]
    worker = desk.worker(1)
    worker.speak(await worker.has(1))
    assert (await heard(listener)).tolist() == spoken("a").tolist()


async def test_without_the_setting_workers_never_rest(clock: Clock) -> None:
    desk = Desk()
    desk.worker(1)
    stream = desk.open("a")
    stream.close()
    await clock.passes(4 * SOON)
    assert WorkersNeeded(False) not in desk.told
    desk.close()


def ahead(engine: EngineInfo, phrase: str) -> SpeechRequest:
    return asked_speech(engine, FrontSettings(), None, None, text=phrase, urgency=Urgency.IDLE)


caching = desk_with(cache_bytes=1 << 20)


async def test_phrases_are_spoken_one_after_another_and_are_then_in_the_cache(caching: Desk) -> None:
    warming = asyncio.create_task(caching.scheduler.prewarm(("one", "two"), ahead))
    worker = caching.worker(1)
    await worker.speaks(1, 2)
    async with asyncio.timeout(DEADLINE):
        await warming
    stream = caching.open("two|one")
    assert await stream.all_cached()
    assert np.array_equal(await heard(listen(stream)), spoken("two|one"))


async def test_a_listener_comes_first_and_the_phrase_is_tried_again(caching: Desk) -> None:
    warming = asyncio.create_task(caching.scheduler.prewarm(("ahead",), ahead))
    worker = caching.worker(1)
    await worker.has(1)
    listener = listen(caching.open("now"))
    worker.speak(await worker.has(2))
    await heard(listener)
    again = await worker.has(3)
    assert [order.script for order in worker.orders] == ["ahead", "now", "ahead"]
    worker.speak(again)
    async with asyncio.timeout(DEADLINE):
        await warming


async def test_a_phrase_that_cannot_be_spoken_is_reported_and_the_next_is_tried(
    caching: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    warming = asyncio.create_task(caching.scheduler.prewarm(("bad", "good"), ahead))
    worker = caching.worker(1)
    worker.fail(await worker.has(1), "no such phoneme")
    worker.speak(await worker.has(2))
    async with asyncio.timeout(DEADLINE):
        await warming
    assert "no such phoneme" in caplog.text
