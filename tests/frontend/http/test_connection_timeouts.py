"""Clients that are slow or silent, over real sockets: each has so much time for a head, a body and between requests."""

import asyncio
import json

import pytest
from aiohttp import web

from frontend.serving.gate import Gate
from tests.frontend.handing_over import turn
from tests.frontend.http.guarded import HEALTH, answer, asks_health, ended, guarded, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech


async def test_a_client_that_sends_nothing_is_closed() -> None:
    async with guarded(FakeSpeaker(), header_timeout=0.05) as server:
        reader, writer = await server.connect()
        assert await ended(reader) == b""
        assert server.closed_for("header_timeout") == 1
        await until(server, 0)
        writer.close()


@pytest.mark.parametrize("before", [b"", HEALTH], ids=["first request", "after another"])
async def test_a_head_that_comes_byte_by_byte_is_cut_off_however_diligently(before: bytes) -> None:
    """Each byte comes well within the time that the whole head has."""
    async with guarded(FakeSpeaker(), header_timeout=0.5) as server:
        reader, writer = await server.connect()
        if before:
            writer.write(before)
            await answer(reader)
        end = asyncio.create_task(ended(reader))
        writer.write(b"GET /health HTTP/1.1\r\n")
        sent = 0
        while not end.done():
            writer.write(b"X-A: b\r\n"[sent % 8 : sent % 8 + 1])
            sent += 1
            await asyncio.wait((end,), timeout=0.02)
        assert end.result() == b""
        assert sent > 3
        assert server.closed_for("header_timeout") == 1
        writer.close()


async def test_the_time_for_a_head_does_not_run_while_one_is_answered_or_none_is_sent() -> None:
    gate = asyncio.Event()
    speaker = FakeSpeaker(speech(10), gate, speech(10))
    async with guarded(speaker, header_timeout=0.5) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        other_reader, other = await server.connect()
        await asks_health(other_reader, other)
        silent_reader, silent = await server.connect()
        await ended(silent_reader)  # the time that a head has is over
        gate.set()
        await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), DEFAULT_TIMEOUT)
        await asks_health(reader, writer)
        await asks_health(other_reader, other)
        for each in (writer, other, silent):
            each.close()


async def test_a_connection_between_requests_is_closed_after_the_keepalive_timeout() -> None:
    async with guarded(FakeSpeaker(), keepalive_timeout=0.1) as server:
        reader, writer = await server.connect()
        await asks_health(reader, writer)
        assert await ended(reader) == b""
        writer.close()


async def test_a_body_that_never_ends_is_408_in_shape_and_the_end() -> None:
    async with guarded(FakeSpeaker(), body_timeout=0.1) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello."}')[:-3])
        status, headers, body = await answer(reader)
        assert (status, headers["Connection"]) == (408, "close")
        error = json.loads(body)["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", "request_timeout")
        assert "0.1 seconds" in error["message"]
        writer.close()


async def test_a_body_may_take_as_long_as_is_set_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is moved by hand: a body of a thousand seconds has them, and not many more."""
    loop = asyncio.get_running_loop()
    now, ahead = loop.time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: now() + ahead[0])
    begun, read = asyncio.Event(), Gate._read_body

    async def reading(self: Gate, request: web.Request) -> None:
        begun.set()
        await read(self, request)

    monkeypatch.setattr(Gate, "_read_body", reading)
    async with guarded(FakeSpeaker(), body_timeout=1000.0, header_timeout=9000.0, keepalive_timeout=9000.0) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello."}')[:-3])
        answered = asyncio.create_task(reader.readuntil(b"\r\n\r\n"))
        await begun.wait()
        ahead[0] = 900.0
        for _ in range(20):
            await turn()
        assert not answered.done()
        ahead[0] = 1001.0
        assert b" 408 " in await asyncio.wait_for(answered, DEFAULT_TIMEOUT)
        writer.close()


async def test_a_body_that_comes_byte_by_byte_has_no_more_time_for_that() -> None:
    async with guarded(FakeSpeaker(), body_timeout=0.1) as server:
        reader, writer = await server.connect()
        writer.write(b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")

        async def drip() -> None:
            while True:
                writer.write(b" ")
                await asyncio.sleep(0.01)

        dripping = asyncio.create_task(drip())
        status, _, _ = await answer(reader)
        dripping.cancel()
        assert status == 408
        writer.close()
