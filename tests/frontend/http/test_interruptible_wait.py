"""The wait for a client's next message: a message, its time, or the server ends it."""

import asyncio

import pytest

from frontend.serving.connections import InterruptibleWait
from tests.frontend.http.guarded import LONG
from tests.frontend.http_fakes import DEFAULT_TIMEOUT


async def message() -> str:
    return "message"


async def test_a_message_ends_the_wait() -> None:
    assert await InterruptibleWait().of(message(), LONG) == "message"


async def test_a_wait_lasts_no_longer_than_its_time() -> None:
    with pytest.raises(TimeoutError):
        await InterruptibleWait().of(asyncio.Event().wait(), 0.0)


async def test_the_server_ends_the_present_wait_and_no_later_one() -> None:
    wait, begun = InterruptibleWait(), asyncio.Event()

    async def silence() -> None:
        begun.set()
        await asyncio.Event().wait()

    wait.end()
    waiting = asyncio.create_task(wait.of(silence(), LONG))
    await asyncio.wait_for(begun.wait(), DEFAULT_TIMEOUT)
    for _ in range(2):
        wait.end()
    await asyncio.wait((waiting,), timeout=DEFAULT_TIMEOUT)
    assert isinstance(waiting.exception(), TimeoutError)
    wait.end()
    assert await wait.of(message(), LONG) == "message"
