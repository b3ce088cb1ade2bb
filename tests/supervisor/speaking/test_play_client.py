"""Commands that have the server play a text, interrupted before the server has said what the text is called."""

import asyncio
import itertools
import signal
import sys
import threading
from types import FrameType
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from client.play import PlayClient


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


def test_an_interruption_at_any_line_ends_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late this thread goes on after the server was asked."""
    ended: list[str] = []
    asked = threading.Event()

    def ask(*_: object) -> dict[str, str]:
        asked.set()
        return {"id": "play-1"}

    monkeypatch.setattr(PlayClient, "ask_to_play", ask)
    monkeypatch.setattr(PlayClient, "end", lambda _, name: ended.append(name))
    for line in itertools.count(1):
        asked.clear()
        lines = itertools.count(1)

        def interrupt(frame: FrameType, event: str, _: object, lines=lines, line=line) -> Any:  # type: ignore[no-untyped-def]
            if frame.f_code is PlayClient.play.__code__ and event == "line" and next(lines) == line:
                raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            PlayClient("http://127.0.0.1:1").play({})
        except KeyboardInterrupt:
            sys.settrace(None)
            assert ended == ["play-1"] * asked.is_set(), line
            ended.clear()
        else:
            break
        finally:
            sys.settrace(None)
    assert line > 4
