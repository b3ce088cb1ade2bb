"""Requests that aren't HTTP, that stop in the middle, or that name another server: one answer, and next to no log."""

import asyncio
import contextlib
import logging
import random

import pytest

from tests.frontend.http.guarded import HEALTH, answer, asks_health, ended, guarded
from tests.frontend.http_fakes import FakeSpeaker, raw_post

MALFORMED = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00b: c\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /\x7f HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
    b"GET /\r\n\r\n",
    b"\x00" * 64 + b"\r\n\r\n",
)

AIOHTTPS_OWN = 10.0
"""Seconds for which aiohttp by itself reads the rest of a body."""


def noise(number: int) -> bytes:
    """A well-formed request with some bytes of it changed."""
    chance = random.Random(number)
    request = bytearray(HEALTH)
    for _ in range(chance.randint(1, 6)):
        request[chance.randrange(len(request) - 4)] = chance.choice(b"\x00\r\n :/\xff9a")
    return bytes(request)


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_a_malformed_request_is_one_line_at_debug(level: int, caplog: pytest.LogCaptureFixture) -> None:
    requests = [*MALFORMED, *map(noise, range(40))]
    with caplog.at_level(level):
        async with guarded(FakeSpeaker()) as server:
            for request in requests:
                reader, writer = await server.connect()
                writer.write(request)
                writer.write_eof()
                await ended(reader)
                writer.close()
    about = [record for record in caplog.records if record.name == "aiohttp.server"]
    assert not any(record.exc_info or record.levelno > logging.DEBUG for record in about)
    assert all("\n" not in record.getMessage() and len(record.getMessage()) < 200 for record in about)
    assert len(about) <= len(requests) if level == logging.DEBUG else not about


async def test_a_failure_that_is_no_clients_fault_keeps_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with guarded(FakeSpeaker()):
        logging.getLogger("aiohttp.server").error("Unhandled exception", exc_info=RuntimeError("ours"))
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_late_body_is_408_and_closed_at_once(chunked: bool) -> None:
    """The client goes on sending its body, a byte at a time. It has its answer, and soon its end."""
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 1000"
    async with guarded(FakeSpeaker(), body_timeout=0.3) as server:
        reader, writer = await server.connect()
        writer.write(b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n")
        answered = asyncio.create_task(answer(reader))
        while not answered.done():
            writer.write(b"1\r\nx\r\n" if chunked else b"x")
            await asyncio.wait((answered,), timeout=0.02)
        assert answered.result()[0] == 408
        with contextlib.suppress(ConnectionResetError):
            await asyncio.wait_for(ended(reader), AIOHTTPS_OWN * 0.8)
        writer.close()


async def answered(request: bytes, *, go_on: bool = False) -> int:
    """Status of a request's answer; with `go_on`, the connection must answer another one."""
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(request)
        status = (await answer(reader))[0]
        if go_on:
            await asks_health(reader, writer)
        writer.close()
    return status


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://evil.example/health", 403),
        (b"http://evil.example:80/health", 403),
        (b"https://evil.example/health", 403),
        (b"http://localhost@evil.example/health", 403),
        (b"http://localhost/health", 200),
        (b"http://127.0.0.1:8880/health", 200),
    ],
)
async def test_a_target_with_a_host_must_name_this_server(target: bytes, status: int) -> None:
    assert await answered(HEALTH.replace(b"/health", target)) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"Referer: https://evil.example/page", 403),
        (b"Referer: http://evil.example:8880", 403),
        (b"Referer: http://localhost:3000/page", 400),
        (b"Referer: https://evil.example/page\r\nSec-Fetch-Site: none", 400),
        (b"Referer: about:client", 400),
        (b"", 400),
    ],
)
async def test_an_old_browsers_sound_of_another_sites_page_makes_no_work(headers: bytes, status: int) -> None:
    """400: the request reaches the handler, which misses the text."""
    head = b"GET /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" * bool(headers) + b"\r\n"
    assert await answered(head, go_on=True) == status


async def test_what_follows_a_whole_body_is_the_next_request() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b"{}") + HEALTH)
        assert (await answer(reader))[0] == 400
        assert (await answer(reader))[0] == 200
        writer.close()
