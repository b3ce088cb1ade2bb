"""A session's requests: interrupted, queued in order, or let be; a client that leaves is no interruption."""

from __future__ import annotations

import asyncio

import pytest

from frontend.contract.errors import Interrupted
from frontend.speech.sessions import OnBusy, Sessions


class Requests:
    """Requests of sessions as tasks; each says when it is in its turn, and lasts until it is let go."""

    def __init__(self) -> None:
        self.sessions = Sessions()
        self.began: list[str] = []
        self.let_go: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, session: str | None, on_busy: OnBusy | None) -> asyncio.Task[None]:
        self.let_go[name] = asyncio.Event()

        async def speak() -> None:
            async with self.sessions.turn(session, on_busy):
                self.began.append(name)
                await self.let_go[name].wait()

        task = asyncio.create_task(speak())
        await asyncio.sleep(0)
        return task


async def ended(*tasks: asyncio.Task[None]) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)


async def test_an_interrupting_request_ends_all_that_were_before_it() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", None)
    second = await requests.ask("second", "s", OnBusy.QUEUE)
    third = await requests.ask("third", "s", OnBusy.INTERRUPT)
    for interrupted in (first, second):
        with pytest.raises(Interrupted):
            await interrupted
    assert requests.began == ["first", "third"]
    requests.let_go["third"].set()
    await ended(third)


async def test_queued_requests_follow_in_the_order_in_which_they_came() -> None:
    requests = Requests()
    tasks = [await requests.ask(str(number), "s", OnBusy.QUEUE) for number in range(4)]
    for number in range(4):
        assert requests.began == [str(n) for n in range(number + 1)]
        requests.let_go[str(number)].set()
        await ended(tasks[number])
        for _ in range(3):
            await asyncio.sleep(0)


async def test_other_sessions_and_requests_without_a_wish_go_on_side_by_side() -> None:
    requests = Requests()
    tasks = [
        await requests.ask("a", "s", None),
        await requests.ask("b", "s", None),
        await requests.ask("c", "other", OnBusy.INTERRUPT),
        await requests.ask("d", None, OnBusy.INTERRUPT),
        await requests.ask("e", None, OnBusy.QUEUE),
    ]
    assert requests.began == list("abcde")
    for name in requests.began:
        requests.let_go[name].set()
    await ended(*tasks)


async def test_a_queued_request_whose_client_leaves_makes_room_for_the_next() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", OnBusy.QUEUE)
    second = await requests.ask("second", "s", OnBusy.QUEUE)
    third = await requests.ask("third", "s", OnBusy.QUEUE)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    requests.let_go["first"].set()
    requests.let_go["third"].set()
    await ended(first, third)
    assert requests.began == ["first", "third"]


async def test_a_client_that_leaves_was_not_interrupted() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", None)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = await requests.ask("second", "s", None)
    second.cancel()
    third = await requests.ask("third", "s", OnBusy.INTERRUPT)
    with pytest.raises(asyncio.CancelledError):
        await second
    requests.let_go["third"].set()
    await ended(third)


async def test_an_ended_session_leaves_nothing() -> None:
    requests = Requests()
    task = await requests.ask("a", "s", OnBusy.QUEUE)
    requests.let_go["a"].set()
    await ended(task)
    assert not requests.sessions._turns
