"""A stream whose worker died goes on in another ring; the one that it has left stays its own until the stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from shm.audio import Pcm
from tests.frontend.desk import Desk, heard, listen, spoken
from tests.frontend.scripted_worker import PER_TOKEN
from tests.frontend.several_workers import kill, quiet, rest


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
    kill(desk, one)
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
    kill(desk, one)
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
    kill(desk, one)
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
