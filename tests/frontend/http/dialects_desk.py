"""The dialects on a real server, over a scheduler whose worker speaks every order."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import numpy as np
from aiohttp import web

from frontend.http.app import make_app
from frontend.settings.front import FrontSettings
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from tests.frontend.contexts_desk import ContextDesk
from tests.frontend.scripted_worker import DEADLINE, ENGINE

Message = dict[str, Any]


class Office(ContextDesk):
    def __init__(self, settings: FrontSettings) -> None:
        super().__init__(settings)
        self.url = ""
        self.session = aiohttp.ClientSession()

    def connect(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        return self.session.ws_connect(self.url + path, headers=headers)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Any:
        """A POST of JSON, for `async with`."""
        return self.session.post(self.url + path, json=body, headers=headers)


@asynccontextmanager
async def office(
    settings: FrontSettings | None = None, *, speaks: bool = True, rings: int = 24, engine: EngineInfo = ENGINE
) -> AsyncIterator[Office]:
    """`speaks`: the worker speaks each order as it comes; else the test has it do so."""
    chosen = settings or FrontSettings(max_streams=8)
    desk = Office(chosen)
    (desk.speaker if speaks else desk.worker)(1, rings=rings, engine=engine)
    app = make_app(desk.services)
    runner = web.AppRunner(app, handler_cancellation=True, auto_decompress=False, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        desk.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield desk
    finally:
        await desk.session.close()
        await runner.cleanup()
        desk.close()


async def next_json(socket: aiohttp.ClientWebSocketResponse) -> Message:
    message = await socket.receive(timeout=DEADLINE)
    assert message.type is aiohttp.WSMsgType.TEXT, message
    found: Message = message.json()
    return found


async def closed(socket: aiohttp.ClientWebSocketResponse) -> int | None:
    """Wait for the server's close frame; its code."""
    while True:
        message = await socket.receive(timeout=DEADLINE)
        if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
            return socket.close_code


async def until(socket: aiohttp.ClientWebSocketResponse, field: str) -> list[Message]:
    """The messages up to the first one in which that field is true, that one included."""
    found = [await next_json(socket)]
    while not found[-1].get(field):
        found.append(await next_json(socket))
    return found


def pcm(messages: list[Message], field: str) -> Pcm:
    """The 16-bit samples that the messages have in that field."""
    return np.frombuffer(b"".join(base64.b64decode(each.get(field) or "") for each in messages), "<i2")
