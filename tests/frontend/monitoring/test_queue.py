"""The queue in /status: each stream's state, plans and predicted first sound; first sounds of the last hour."""

import asyncio

import pytest

from frontend.monitoring.metrics import RecentFirstSounds
from frontend.monitoring.report import FirstSounds
from frontend.monitoring.status_handler import stream_status
from frontend.planning.costs import CostModel
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scheduling.test_admission import measured, opened
from tests.frontend.scripted_worker import DEADLINE


async def test_a_stream_says_what_it_waits_for_and_when_its_first_sound_is_expected(desk: Desk) -> None:
    worker = desk.worker(1)
    await measured(desk, worker, 0.5)
    first = await opened(desk, "the first of two", client="a")
    second = await opened(desk, "the second of two", client="b")
    snapshot = desk.scheduler.snapshot()
    one, two = (stream_status(each, "", snapshot.first_sounds.get(each.number)) for each in (first, second))
    assert (one.state, one.planned[0].worker) == ("making", 1)
    costs = next(iter(snapshot.costs.values()))
    assert isinstance(costs, CostModel)
    own = [costs.first_audio(each.segments[0].segment.tokens, 1.0, 1) for each in (first, second)]
    assert one.first_sound_in_seconds == pytest.approx(own[0], abs=0.01)
    assert two.first_sound_in_seconds == pytest.approx(sum(own), abs=0.01), "it waits for the one before it"
    assert "first of two" not in repr(one)
    first.close()
    second.close()


async def test_a_stream_without_a_worker_names_the_reason(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = await opened(desk, "some text", client="a")
    await worker.has(1)
    links = desk.scheduler._shared.links
    desk.kill(worker)
    async with asyncio.timeout(DEADLINE):
        while links.current:  # noqa: ASYNC110 - the loss is told to no test
            await asyncio.sleep(0)
    shown = stream_status(stream, "the worker is being restarted", None)
    assert (shown.state, shown.planned[0].stage) == ("waiting", "waits")
    assert shown.why == "no worker can speak: the worker is being restarted"
    stream.close()


async def test_a_stream_that_sounds_has_the_time_of_its_first_block(desk: Desk) -> None:
    worker = desk.worker(1)
    await measured(desk, worker, 0.5)
    stream = await opened(desk, "more", client="a")
    listener = listen(stream)
    order = await worker.has(2)
    worker.speak(order)
    await heard(listener)
    shown = stream_status(stream, "", None)
    assert (shown.state, shown.planned) == ("made", [])
    assert shown.first_sound_seconds is not None and shown.first_sound_seconds >= 0


def test_first_sounds_are_kept_by_minute_for_an_hour() -> None:
    clock = iter((0.0, 3000.0, 3001.0, 3002.0, 3599.0, 3610.0))
    kept = RecentFirstSounds(lambda: next(clock))
    for seconds in (9.0, 0.2, 0.4, 0.3, 1.0):
        kept.add(seconds)
    assert kept.by_minute() == [FirstSounds(10, 3, 0.3, 0.4), FirstSounds(0, 1, 1.0, 1.0)]
