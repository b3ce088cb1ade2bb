"""Commands that have the server play a text, interrupted before the server has said what the text is called."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer


@pytest.mark.parametrize("command", ["play", "say"])
async def test_an_interruption_while_the_server_answers_ends_the_text(command: str) -> None:
    asked, interrupted = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def health(request: web.Request) -> web.Response:
        return web.json_response({}, headers={"Server": "kokoro-live"})

    async def take(request: web.Request) -> web.Response:
        asked.set()
        await interrupted.wait()
        return web.json_response({"id": "play-1", "position_in_queue": 0})

    async def end(request: web.Request) -> web.Response:
        ended.append(request.match_info["name"])
        return web.json_response({})

    app = web.Application()
    app.add_routes([web.get("/health", health), web.post("/v1/play", take), web.delete("/v1/play/{name}", end)])
    async with TestServer(app) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "supervisor", command, "--url", str(server.make_url("")).rstrip("/"), "Unheard."
        )
        await asked.wait()
        process.send_signal(signal.SIGINT)
        interrupted.set()
        assert await process.wait() == -signal.SIGINT
    assert ended == ["play-1"]
