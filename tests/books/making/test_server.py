"""A server as the speaker of a book: what is asked again, and what never is."""

from __future__ import annotations

import asyncio
import io
import wave
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import web

from books.making.passages import Passage
from books.making.server import ServerSpeaker
from books.making.speech import Postponed, Refused

PASSAGE = Passage("Hello there.", ("Hello there.",), "", 1.0, "", 0, 0.0)
Answer = Callable[[web.Request], Awaitable[web.Response]]


@asynccontextmanager
async def asking(answer: Answer) -> AsyncIterator[ServerSpeaker]:
    """A speaker whose server answers each speech request so."""

    async def status(_: web.Request) -> web.Response:
        return web.json_response({"engine": {"name": "kokoro", "model": "m", "sha256": "abc"}})

    app = web.Application()
    app.router.add_get("/status", status)
    app.router.add_post("/v1/audio/speech", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _, port, *_ = runner.addresses[0]
    try:
        async with ServerSpeaker(f"http://127.0.0.1:{port}") as speaker:
            assert await speaker.engine() == "kokoro/m/abc"
            yield speaker
    finally:
        await runner.cleanup()


def failing(status: int, code: str, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "No.", "code": code}}, status=status, headers=headers)

    return answer


@pytest.mark.parametrize("code", ["synthesis_failed", "internal"])
async def test_a_text_at_which_the_server_fails_is_not_tried_for_ever(code: str) -> None:
    async with asking(failing(500, code)) as speaker:
        for _ in range(2):
            with pytest.raises(Postponed):
                await speaker.speak(PASSAGE)
        with pytest.raises(Refused, match="No"):
            await speaker.speak(PASSAGE)


async def test_a_busy_server_says_when_to_come_again() -> None:
    async with asking(failing(429, "overloaded", **{"Retry-After": "7"})) as speaker:
        with pytest.raises(Postponed) as postponed:
            await speaker.speak(PASSAGE)
        assert postponed.value.seconds == 7


async def test_a_wrong_request_is_refused() -> None:
    async with asking(failing(400, "unknown_voice")) as speaker:
        with pytest.raises(Refused, match="No"):
            await speaker.speak(PASSAGE)


async def test_an_engine_that_stands_in_is_noticed() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b"RIFF", headers={"X-Engine": "espeak-ng"})

    async with asking(answer) as speaker:
        with pytest.raises(Refused, match="espeak-ng speaks now, not kokoro"):
            await speaker.speak(PASSAGE)


async def test_without_word_times_the_audio_alone_is_taken_by_all_lanes() -> None:
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(np.arange(100, dtype="<i2").tobytes())

    async def answer(request: web.Request) -> web.Response:
        if (await request.json())["timestamps"]:
            return await failing(400, "timestamps_unavailable")(request)
        return web.Response(body=made.getvalue(), headers={"X-Engine": "kokoro"})

    async with asking(answer) as speaker:
        for speech in await asyncio.gather(*(speaker.speak(PASSAGE) for _ in range(3))):
            assert np.array_equal(speech.pcm, np.arange(100)) and speech.words == ()
