"""The contexts of one socket: their names, and the end of them and of their tasks."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.journal import SocketJournal
from frontend.contract.errors import ApiError
from frontend.dialects.open_contexts import REMEMBERED, OpenContexts
from tests.frontend.contexts_desk import ASKED, ContextDesk
from tests.frontend.scripted_worker import DEADLINE


class Socket:
    """A socket's contexts, each listened to until `heard` is set."""

    def __init__(self, desk: ContextDesk) -> None:
        self.heard = asyncio.Event()
        self.ended = asyncio.Event()
        request = make_mocked_request("GET", "/", app=web.Application())
        self.contexts = OpenContexts(request, desk.services, SocketJournal(None), self._listen, self.ended.set)

    async def _listen(self, key: str, context: Context) -> None:
        await self.heard.wait()
        self.contexts.drop(key, only=context, remember=False)


@pytest.fixture
async def desk() -> AsyncIterator[ContextDesk]:
    made = ContextDesk()
    yield made
    made.close()


@pytest.fixture
async def socket(desk: ContextDesk) -> AsyncIterator[Socket]:
    made = Socket(desk)
    yield made
    await made.contexts.close()


async def test_the_end_of_a_context_leaves_a_later_one_of_the_same_name(socket: Socket) -> None:
    first = socket.contexts.open("a", ASKED, OutputFormat())
    assert socket.contexts.drop("a", remember=False)
    second = socket.contexts.open("a", ASKED, OutputFormat())
    assert not socket.contexts.drop("a", only=first)
    assert socket.contexts.get("a") is second
    assert socket.contexts.drop("a", only=second) and not socket.contexts


async def test_the_names_of_the_last_closed_contexts_are_remembered(socket: Socket) -> None:
    for number in range(REMEMBERED + 1):
        socket.contexts.open(f"c{number}", ASKED, OutputFormat())
        socket.contexts.drop(f"c{number}")
    with pytest.raises(ApiError, match="'c1' has been closed"):
        socket.contexts.open("c1", ASKED, OutputFormat())
    assert socket.contexts.open("c0", ASKED, OutputFormat())


async def test_a_socket_is_over_once_all_events_of_its_contexts_were_sent(socket: Socket) -> None:
    context = socket.contexts.open("a", ASKED, OutputFormat())
    socket.contexts.finish()
    assert context.finished and not socket.contexts.over
    with pytest.raises(ApiError, match="closing"):
        socket.contexts.open("b", ASKED, OutputFormat())
    socket.heard.set()
    async with asyncio.timeout(DEADLINE):
        await socket.ended.wait()
    assert socket.contexts.over and socket.contexts.get("a") is None


async def test_closing_leaves_neither_context_nor_task(desk: ContextDesk, socket: Socket) -> None:
    before = asyncio.all_tasks()
    for name in "ab":
        socket.contexts.open(name, ASKED, OutputFormat())
    await socket.contexts.close()
    assert not socket.contexts and desk.services.open.contexts == 0
    assert asyncio.all_tasks() == before
