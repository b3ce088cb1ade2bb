"""What the cache and interruptions mean on the wire."""

from __future__ import annotations

import asyncio

import aiohttp

from frontend.settings import FrontSettings
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, FakeStream, serving, speech


async def test_a_cached_wav_that_is_long_streams_as_it_did_the_first_time() -> None:
    speaker = FakeSpeaker(*[speech(24000)] * 3)

    class Cached(FakeStream):
        def __init__(self, *a):  # type: ignore[no-untyped-def]
            super().__init__(*a)
            self.cached = True

    speaker.open = lambda request: Cached(speaker.steps, ENGINE)  # type: ignore[method-assign]
    async with (
        serving(speaker, FrontSettings(max_clip_seconds=2)) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        async with client.post("/v1/audio/speech", json={"input": "x", "response_format": "wav"}) as response:
            assert response.status == 200, await response.text()


async def test_a_header_that_says_hit_is_true_when_it_leaves() -> None:
    """An MP3's first bytes come after several pieces."""
    speaker = FakeSpeaker()
    stream = FakeStream([], ENGINE)

    def miss() -> None:
        stream.cached = False

    stream.cached = True
    stream._steps = [speech(200), miss, speech(48000)]
    speaker.open = lambda request: stream  # type: ignore[method-assign]
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", json={"input": "x", "response_format": "mp3"}) as response:
            await response.read()
            assert "X-Cache" not in response.headers


async def test_an_interrupted_event_stream_whose_reader_is_paused_gives_its_place_back() -> None:
    speaker = FakeSpeaker(*[speech(240_000)] * 40, asyncio.Event())
    async with (
        serving(speaker) as server,
        aiohttp.ClientSession(server.url, headers={"X-Session": "me"}, read_bufsize=1024) as client,
    ):
        first = await client.post(
            "/v1/audio/speech", json={"input": "a", "response_format": "pcm", "stream_format": "sse"}
        )
        await asyncio.sleep(1.0)  # it reads nothing; the server's write waits
        stream = speaker.streams[0]
        assert not stream.waiting.is_set(), "the socket took it all: not a paused reader"
        speaker.steps = (speech(2400),)
        async with client.post(
            "/v1/audio/speech", json={"input": "b", "response_format": "pcm", "on_busy": "interrupt"}
        ) as second:
            await second.read()
        try:
            async with asyncio.timeout(3):
                await stream.closed.wait()
        finally:
            first.close()
