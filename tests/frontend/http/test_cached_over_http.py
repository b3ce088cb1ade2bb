"""The cache and interruptions, as a client sees them."""

import asyncio
import json
import socket
import wave
from io import BytesIO

import aiohttp
import pytest
from aiohttp.web_protocol import RequestHandler

from frontend.contract.errors import Overloaded
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, CachedSpeaker, FakeSpeaker, asking, raw_post, serving, speech


async def test_a_cached_wav_that_is_longer_than_a_clip_may_be_is_streamed_as_it_was_the_first_time() -> None:
    async with asking(
        CachedSpeaker(*[speech(24_000)] * 3),
        "/v1/audio/speech",
        settings=FrontSettings(max_clip_seconds=2),
        json={"input": "x", "response_format": "wav"},
    ) as response:
        assert response.status == 200
        with wave.open(BytesIO(await response.read())) as file:
            assert file.getnframes() == 3 * 24_000


async def test_a_header_that_says_hit_is_true_when_it_leaves() -> None:
    """An MP3's first bytes come after several pieces."""
    speaker = CachedSpeaker()

    def miss() -> None:
        speaker.streams[0].cached = False

    speaker.steps = (speech(200), miss, speech(48_000))
    async with asking(speaker, json={"input": "x", "response_format": "mp3"}) as response:
        assert "X-Cache" not in response.headers


async def test_who_is_refused_behind_a_cached_beginning_is_told_so() -> None:
    ask = {"input": "x", "response_format": "pcm", "stream_format": "sse"}
    async with serving(CachedSpeaker(speech(24_000), Overloaded("full", 3.0))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(ask).encode()))
        told = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert b"speech.audio.delta" in told
    assert b'"code":"overloaded"' in told


async def test_an_interrupted_event_stream_whose_reader_is_paused_gives_its_place_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = asyncio.Event()
    pause = RequestHandler.pause_writing
    monkeypatch.setattr(RequestHandler, "pause_writing", lambda self: (waits.set(), pause(self)))
    ask = {"response_format": "pcm", "user": "me"}
    speaker = FakeSpeaker(*[speech(240_000)] * 40, asyncio.Event())
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            deaf.sendall(raw_post(json.dumps(ask | {"input": "a", "stream_format": "sse"}).encode()))
            async with asyncio.timeout(DEFAULT_TIMEOUT):
                await waits.wait()
            (stream,) = speaker.streams
            assert not stream.waiting.is_set(), "it was all written"
            speaker.steps = (speech(2400),)
            async with client.post("/v1/audio/speech", json=ask | {"input": "b", "on_busy": "interrupt"}) as second:
                assert len(await second.read()) == 4800
            assert stream.closed.is_set()
