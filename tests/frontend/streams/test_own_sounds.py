"""A text whose front was killed: its successor orders only the samples that no worker has sealed."""

import os
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from frontend.contract.progress import Progress
from frontend.streams.cache import SegmentCache
from shm.memory import sparse
from tests import platforms
from tests.frontend.desk import Desk, heard, listen, spoken
from tests.frontend.scripted_worker import samples_of

pytestmark = platforms.linux_only("the memory that fronts share is memfd_create's")

TEXT = "one|second|the third"
NAME = b"7 1"


@pytest.fixture
async def front() -> AsyncIterator[Callable[..., Desk]]:
    """Makes desks that share a memory, each in place of the one before."""
    memory = sparse("test")
    made: list[Desk] = []

    def follow(cache_bytes: int = 0) -> Desk:
        made.append(Desk(cache_bytes=cache_bytes))
        cache: SegmentCache = made[-1].scheduler._shared.cache
        cache.share(memory)
        cache.take_over()
        return made[-1]

    yield follow
    for desk in made:
        desk.close()
    os.close(memory)


def progress(*, again: bool = False, name: bytes = NAME) -> Progress:
    return Progress(name=name, again=again)


async def killed_in_the_second_segment(desk: Desk, **fields: object) -> None:
    """Its worker makes a segment and a part of the next one."""
    worker = desk.worker(1)
    listener = listen(desk.open(TEXT, progress=progress(), **fields))
    await worker.speaks(1)
    order = await worker.has(2)
    worker.seal(order, 0, 2000)
    await worker.has(3)
    stream = desk.scheduler.snapshot().streams[0]
    while not any(planned.sealed == 2000 for planned in stream.segments):
        stream._changed.clear()
        await stream._changed.wait()
    stream.sounds._sounds.clear()  # a killed front drops nothing
    listener.cancel()


@pytest.mark.parametrize(("cache_bytes", "fields"), [(0, {}), (1 << 24, {"fresh": True}), (1 << 24, {})])
async def test_the_rest_is_ordered_from_the_first_missing_sample(
    front: Callable[..., Desk], cache_bytes: int, fields: dict[str, object]
) -> None:
    await killed_in_the_second_segment(front(cache_bytes), **fields)
    after = front(cache_bytes)
    worker = after.worker(2)
    listener = listen(after.open(TEXT, progress=progress(again=True), **fields))
    await worker.speaks(1, 2)
    assert np.array_equal(await heard(listener), spoken(TEXT))
    assert [(order.script, order.from_sample) for order in worker.orders] == [("second", 2000), ("the third", 0)]


async def test_another_text_gets_none_of_it(front: Callable[..., Desk]) -> None:
    await killed_in_the_second_segment(front())
    after = front()
    worker = after.worker(2)
    listener = listen(after.open(TEXT, progress=progress(again=True, name=b"7 2")))
    await worker.speaks(1, 2, 3)
    await heard(listener)
    assert [order.from_sample for order in worker.orders] == [0, 0, 0]


async def test_a_text_that_was_heard_out_leaves_nothing_that_is_not_cached(front: Callable[..., Desk]) -> None:
    desk = front()
    worker = desk.worker(1)
    listener = listen(desk.open(TEXT, progress=progress()))
    await worker.speaks(1, 2, 3)
    assert len(await heard(listener)) <= sum(len(samples_of(part)) for part in TEXT.split("|"))
    after = front()
    assert after.scheduler._shared.cache.sounds.strangers == ()


async def test_what_nobody_continues_is_dropped(front: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    await killed_in_the_second_segment(front())
    cache = front().scheduler._shared.cache
    assert len(cache.sounds.strangers) == 2
    cache._drop_unclaimed()
    assert cache.sounds.strangers == ()
