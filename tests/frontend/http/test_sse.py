"""`stream_format: "sse"`: OpenAI's events, to the letter."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from typing import Any

import aiohttp
import numpy as np
import pytest

from frontend.audio.formats import FORMATS
from frontend.contract.errors import Broken, Unavailable, Unspeakable
from shm.audio import SAMPLE_RATE
from tests.frontend.audio.hearing import hear, vowels
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, serving

BODY = {"input": "Hello.", "stream_format": "sse"}


def events(body: bytes) -> list[dict[str, Any]]:
    """One `data:` line of JSON, one empty line, again and again, and nothing else."""
    blocks = body.decode("ascii").split("\n\n")
    assert blocks.pop() == ""
    found = [re.fullmatch(r"(?:event: error\n)?data: (\{.*\})", block) for block in blocks]
    assert all(found), body
    return [json.loads(match[1]) for match in found if match]


def audio(deltas: list[dict[str, Any]]) -> bytes:
    """The audio that the deltas carry."""
    for delta in deltas:
        assert delta.keys() == {"type", "audio"} and delta["type"] == "speech.audio.delta"
    return b"".join(base64.b64decode(delta["audio"], validate=True) for delta in deltas)


@pytest.mark.parametrize("audio_format", FORMATS)
async def test_events_carry_the_file_and_then_the_usage(audio_format: str) -> None:
    pieces = [vowels(1.0), vowels(0.5), vowels(0.0301)]
    async with (
        serving(FakeSpeaker(*pieces)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=BODY | {"response_format": audio_format}) as response,
    ):
        body = await response.read()
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["X-Sample-Rate"] == "24000"
    *deltas, done = events(body)
    assert len(deltas) > 10
    frames = 62  # 1.5301 s of 25 ms, rounded up
    usage = {"input_tokens": 21, "output_tokens": frames, "total_tokens": 21 + frames}
    assert done == {"type": "speech.audio.done", "usage": usage}
    data = audio(deltas)
    if audio_format == "pcm":
        assert data == np.concatenate(pieces).tobytes()
    else:
        got = hear(data)
        assert len(got.samples) / got.sample_rate == pytest.approx(1.53, abs=0.11)


async def test_an_event_leaves_before_the_next_piece_is_there() -> None:
    gate = asyncio.Event()
    async with serving(FakeSpeaker(vowels(0.1), gate, vowels(0.1))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(BODY | {"response_format": "pcm"}).encode()))
        got = await asyncio.wait_for(reader.readuntil(b"\n\n"), DEFAULT_TIMEOUT)
        assert got.endswith(b'"}\n\n')
        assert base64.b64encode(vowels(0.1).tobytes()) in got
        gate.set()
        assert b"speech.audio.done" in await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), DEFAULT_TIMEOUT)
        writer.close()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Broken("two workers died on it"), ("two workers died on it", "server_error", None, "synthesis_failed")),
        (Unavailable("the worker is gone"), ("the worker is gone", "server_error", None, "unavailable")),
        (Unspeakable("no such sound"), ("no such sound", "invalid_request_error", "input", "unspeakable")),
        (RuntimeError("secret"), ("The server failed; its log has", "server_error", None, "internal")),
    ],
)
async def test_an_error_in_mid_stream_is_an_event_and_the_connection_is_cut(
    error: Exception, expected: tuple[str, str, str | None, str]
) -> None:
    async with serving(FakeSpeaker(vowels(0.2), error)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(BODY | {"response_format": "pcm"}).encode()))
        await reader.readuntil(b"\r\n\r\n")
        body = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert not body.endswith(b"0\r\n\r\n")
    *deltas, last = events(re.sub(rb"[0-9a-f]+\r\n(.*?\n\n)\r\n", rb"\1", body, flags=re.DOTALL))
    assert len(audio(deltas)) == 0.2 * SAMPLE_RATE * 2
    assert last["type"] == "error"
    message, *rest = expected
    assert last["error"]["message"].startswith(message)
    assert [last["error"][key] for key in ("type", "param", "code")] == rest
    assert b"secret" not in body


async def test_an_error_before_the_first_byte_is_an_ordinary_answer() -> None:
    async with (
        serving(FakeSpeaker(Broken("at once"))) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=BODY) as response,
    ):
        assert response.status == 500
        assert (await response.json())["error"]["message"] == "at once"
