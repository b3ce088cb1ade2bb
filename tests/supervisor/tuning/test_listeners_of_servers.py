"""What a listener of a measured server hears, of answers that are known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from shm.audio import SAMPLE_RATE
from supervisor.tuning.listening import Figures, Heard, hear, measure
from supervisor.tuning.servers import ServerFailed

PATIENCE = 60.0
SOUND = np.full(SAMPLE_RATE // 2, 1000, "<i2").tobytes()
"""Half a second."""
SILENCE = bytes(len(SOUND))
PAUSE = 1.2
"""Seconds between two of `SOUND`, the first of which has been heard by then."""

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_post("/v1/audio/speech", answer)
    async with TestServer(application) as server:
        yield str(server.make_url("")).rstrip("/")


def audio(*parts: bytes, pause: float = 0.0) -> Answer:
    """The parts, with so many seconds between them."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for number, part in enumerate(parts):
            await asyncio.sleep(pause if number else 0)
            await response.write(part)
        return response

    return answer


async def heard(answer: Answer, texts: Sequence[str] = ("A text.",)) -> list[Heard]:
    async with answering(answer) as url:
        return await asyncio.to_thread(hear, url, texts, PATIENCE)


async def test_what_comes_in_time_has_no_gap() -> None:
    (found,) = await heard(audio(SOUND, SOUND))
    assert found.gapless and found.audio == 1.0 and found.silence == 0.0
    assert 0 < found.first <= found.whole


async def test_what_comes_late_is_a_gap() -> None:
    (found,) = await heard(audio(SOUND, SOUND, pause=PAUSE))
    assert not found.gapless and found.silence > 0.1
    assert found.first < PAUSE <= found.whole


async def test_silence_is_no_first_audio() -> None:
    (found,) = await heard(audio(SILENCE + SILENCE, SILENCE[:1], SILENCE[1:] + SOUND, pause=0.3))
    assert found.first >= 0.6 and found.audio == 2.0


async def test_who_is_sent_away_asks_again_and_has_waited() -> None:
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request)
        return await audio(SOUND)(request) if len(asked) > 3 else web.Response(status=429)

    (found,) = await heard(answer)
    assert len(asked) == 4 and found.first >= 0.3
    assert not found.gapless and found.silence == 0


async def test_each_listener_is_a_client_of_its_own_and_all_listen_at_once() -> None:
    clients: set[str] = set()
    all_there = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        clients.add(request.headers["X-Session"])
        if len(clients) == 3:
            all_there.set()
        await all_there.wait()
        return await audio(SOUND)(request)

    found = await asyncio.wait_for(heard(answer, ["One.", "Two.", "Three."]), PATIENCE)
    assert len(found) == 3


async def test_figures_are_of_a_lone_text_and_of_a_crowd() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        text = (await request.json())["input"]
        return await audio(SOUND, SOUND, pause=PAUSE if text == "Late." else 0.0)(request)

    async with answering(answer) as url:
        found: Figures = await asyncio.to_thread(measure, url, "Late.", ["One.", "Late.", "Three."], PATIENCE)
    assert (found.crowd, found.gapless) == (3, 2)
    assert found.first > 1.0, "a silence counts ten times its length"
    assert 0 < found.real_time < 1 / PAUSE
    assert 0 < found.together <= 3 / PAUSE
    assert 0 < found.first_together < PAUSE


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda _: _answered(web.Response(status=500, text="no memory")), "500: no memory"),
        (audio(SILENCE), "silence"),
        (audio(), "silence"),
        (lambda request: _cut(request), "to the end"),
    ],
    ids=["an error", "silence", "nothing", "a stream that is cut"],
)
async def test_anything_else_is_a_failure(answer: Answer, why: str) -> None:
    with pytest.raises(ServerFailed, match=why):
        await heard(answer)


async def test_nobody_there_is_a_failure() -> None:
    async with answering(audio(SOUND)) as url:
        pass
    with pytest.raises(ServerFailed, match="didn't speak"):
        await asyncio.to_thread(hear, url, ["A text."], PATIENCE)


async def _answered(response: web.Response) -> web.Response:
    return response


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(SOUND)
    assert request.transport
    request.transport.abort()
    return response
