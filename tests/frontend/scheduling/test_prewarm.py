"""Phrases spoken ahead: when nobody else is, again after an interruption, and in the cache from then on."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from frontend.contract.request import SpeechRequest, Urgency
from frontend.settings.front import FrontSettings
from frontend.speech.voices import asked_speech
from shm.engine_info import EngineInfo
from tests.frontend.desk import Desk, heard, listen, spoken
from tests.frontend.scripted_worker import DEADLINE


def ahead(engine: EngineInfo, phrase: str) -> SpeechRequest:
    return asked_speech(engine, FrontSettings(), None, None, text=phrase, urgency=Urgency.IDLE)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(cache_bytes=1 << 20)
    yield made
    made.close()


async def test_phrases_are_spoken_one_after_another_and_are_then_in_the_cache(desk: Desk) -> None:
    warming = asyncio.create_task(desk.scheduler.prewarm(("one", "two"), ahead))
    worker = desk.worker(1)
    await worker.speaks(1, 2)
    async with asyncio.timeout(DEADLINE):
        await warming
    stream = desk.open("two|one")
    assert await stream.all_cached()
    assert np.array_equal(await heard(listen(stream)), spoken("two|one"))


async def test_a_listener_comes_first_and_the_phrase_is_tried_again(desk: Desk) -> None:
    warming = asyncio.create_task(desk.scheduler.prewarm(("ahead",), ahead))
    worker = desk.worker(1)
    await worker.has(1)
    listener = listen(desk.open("now"))
    worker.speak(await worker.has(2))
    await heard(listener)
    again = await worker.has(3)
    assert [order.script for order in worker.orders] == ["ahead", "now", "ahead"]
    worker.speak(again)
    async with asyncio.timeout(DEADLINE):
        await warming


async def test_a_phrase_that_cannot_be_spoken_is_reported_and_the_next_is_tried(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    warming = asyncio.create_task(desk.scheduler.prewarm(("bad", "good"), ahead))
    worker = desk.worker(1)
    worker.fail(await worker.has(1), "no such phoneme")
    worker.speak(await worker.has(2))
    async with asyncio.timeout(DEADLINE):
        await warming
    assert "no such phoneme" in caplog.text
