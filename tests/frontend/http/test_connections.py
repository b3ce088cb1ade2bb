"""Clients that are slow, silent or many, over real sockets: each costs itself its connection, and nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from aiohttp import web

from frontend.http.access.bodies import Bodies
from frontend.http.app import make_app
from frontend.http.connections import connections as connections_module
from frontend.http.connections.acceptor import Acceptor
from frontend.http.connections.connection import Connection
from frontend.http.connections.connections import SURPLUS, Connections
from frontend.monitoring.metrics import Metrics
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
ALIVE = b'{"status": "ok"}'
LONG = 1000.0
"""Seconds that no test lasts."""


@dataclass(frozen=True)
class Guarded:
    port: int
    connections: Connections
    metrics: Metrics
    listener: socket.socket

    def closed_for(self, reason: str) -> float:
        found = self.metrics.registry.get_sample_value("kokoro_live_connections_closed_total", {"reason": reason})
        return found or 0.0

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@asynccontextmanager
async def guarded(speaker: FakeSpeaker, limit: int = 100, **settings: float) -> AsyncIterator[Guarded]:
    """The front's HTTP side as the front itself runs it, on a socket of its own."""
    patient = dict.fromkeys(("header_timeout", "body_timeout", "keepalive_timeout", "write_timeout"), LONG)
    chosen = FrontSettings(**(patient | settings))  # type: ignore[arg-type]
    metrics = Metrics()
    app = make_app(speaker, chosen, metrics)
    runner = web.AppRunner(
        app,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        shutdown_timeout=0.1,
        keepalive_timeout=chosen.keepalive_timeout,
    )
    await runner.setup()
    assert runner.server is not None
    connections = Connections(runner.server, chosen, limit, metrics)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        acceptor = Acceptor(listener, connections)
        acceptor.start()
        try:
            yield Guarded(listener.getsockname()[1], connections, metrics, listener)
        finally:
            await acceptor.stop()
            await runner.cleanup()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a response with a Content-Length."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
    first, *lines = head.decode().strip().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    body = await asyncio.wait_for(reader.readexactly(int(headers["Content-Length"])), DEFAULT_TIMEOUT)
    return int(first.split()[1]), headers, body


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the server closes."""
    with contextlib.suppress(ConnectionResetError):
        return await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
    return b""


async def turn() -> None:
    """Let the event loop turn once."""
    await asyncio.sleep(0)


async def until(server: Guarded, count: int) -> None:
    """Wait until so many connections are open."""
    async with asyncio.timeout(DEFAULT_TIMEOUT):
        while len(server.connections) != count:
            await turn()


async def asks_health(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEALTH)
    assert (await answer(reader))[::2] == (200, ALIVE)


# -- time


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
    begun, read = asyncio.Event(), Bodies.read

    async def reading(self: Bodies, request: web.Request) -> None:
        begun.set()
        await read(self, request)

    monkeypatch.setattr(Bodies, "read", reading)
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


async def cuts(server: Guarded) -> float:
    return server.metrics.totals()["kokoro_live_streams_cut_total"]


async def test_a_stream_that_outlasts_the_drain_is_counted_as_cut() -> None:
    speaker = FakeSpeaker(speech(100), asyncio.Event())
    async with guarded(speaker) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
    assert await cuts(server) == 1
    assert server.closed_for("drain") == 1
    writer.close()


@pytest.mark.parametrize("heard", [True, False], ids=["after its first sample", "before it"])
async def test_a_client_that_leaves_cuts_only_itself(heard: bool) -> None:
    speaker = FakeSpeaker(*([speech(100)] if heard else []), asyncio.Event())
    async with guarded(speaker) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        async with asyncio.timeout(DEFAULT_TIMEOUT):
            await speaker.was_asked.wait()
            if heard:
                await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await until(server, 0)
        async with asyncio.timeout(DEFAULT_TIMEOUT):
            await speaker.streams[0].closed.wait()
        assert await cuts(server) == 0


async def test_the_time_to_first_audio_contains_the_body_s_way() -> None:
    async with guarded(FakeSpeaker(speech(100))) as server:
        reader, writer = await server.connect()
        request = raw_post(b'{"input": "Hello.", "response_format": "pcm"}')
        writer.write(request[:-5])
        await asyncio.sleep(0.3)
        writer.write(request[-5:])
        await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), DEFAULT_TIMEOUT)
        spent = server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_sum")
        assert spent and spent >= 0.2
        writer.close()


async def test_a_client_that_never_reads_loses_its_stream_and_nobody_elses(caplog: pytest.LogCaptureFixture) -> None:
    speaker = FakeSpeaker(*[speech(24_000)] * 400)
    async with guarded(speaker, write_timeout=0.2) as server:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            deaf.sendall(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
            while not speaker.streams:
                reader, writer = await server.connect()
                await asks_health(reader, writer)
                writer.close()
            await asyncio.wait_for(speaker.streams[0].closed.wait(), DEFAULT_TIMEOUT)
            assert speaker.streams[0].given < 400
        assert server.closed_for("write_timeout") == 1
        assert server.metrics.totals()["kokoro_live_streams_cut_total"] == 1
        assert "read nothing for 0.2 s" in caplog.text
        await until(server, 0)


async def test_a_client_that_pauses_and_reads_on_hears_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time runs anew with each pause, and not beyond: the connection is there when it would have been over."""
    pauses = []
    pause = Connection.pause_writing
    monkeypatch.setattr(Connection, "pause_writing", lambda self: (pauses.append(self), pause(self)))
    speaker = FakeSpeaker(*[speech(24_000)] * 200)
    async with guarded(speaker, write_timeout=2.0, header_timeout=2.1) as server:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=client, limit=1 << 14)
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        await reader.readuntil(b"\r\n\r\n")
        heard = 0
        while size := int(await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT), 16):
            heard += len(await reader.readexactly(size + 2)) - 2
        assert heard == 200 * 24_000 * 2
        assert len(pauses) > 1
        silent_reader, silent = await server.connect()
        await ended(silent_reader)
        await asks_health(reader, writer)
        assert server.closed_for("write_timeout") == 0
        writer.close()
        silent.close()


# -- numbers


async def test_a_newcomer_gets_the_place_of_who_has_been_idle_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "SETTLED", 0.0)
    async with guarded(FakeSpeaker(), limit=3) as server:
        first, second, third = [await server.connect() for _ in range(3)]
        await until(server, 3)
        for client in (first, second, third, first):
            await asks_health(*client)
        newcomer = await server.connect()
        await asks_health(*newcomer)
        assert await ended(second[0]) == b""
        assert server.closed_for("room") == 1
        for client in (first, third, newcomer):
            await asks_health(*client)
        for _, writer in (first, second, third, newcomer):
            writer.close()


async def test_a_stream_is_never_closed_for_a_newcomer_who_may_look_and_not_speak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections_module, "SETTLED", 0.0)
    gate = asyncio.Event()
    speaker = FakeSpeaker(speech(10), gate, speech(10))
    body = b'{"input": "Hello.", "response_format": "pcm"}'
    async with guarded(speaker, limit=2) as server:
        listeners = [await server.connect() for _ in range(2)]
        for reader, writer in listeners:
            writer.write(raw_post(body))
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
        for request, expected in ((raw_post(body), 503), (HEALTH, 200)):
            reader, writer = await server.connect()
            writer.write(request)
            status, headers, answered = await answer(reader)
            assert (status, headers["Connection"]) == (expected, "close")
            if status == 503:
                assert headers["Retry-After"] == "1"
                assert json.loads(answered)["error"]["code"] == "unavailable"
            assert await ended(reader) == b""
            writer.close()
        gate.set()
        for reader, writer in listeners:
            rest = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), DEFAULT_TIMEOUT)
            assert len(rest) > 40
            await asks_health(reader, writer)
            writer.close()
        await until(server, 0)
        reader, writer = await server.connect()
        writer.write(raw_post(body))
        assert await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT) == b"HTTP/1.1 200 OK\r\n"
        writer.close()


async def test_with_all_places_taken_by_those_who_just_came_the_rest_is_closed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections_module, "SETTLED", LONG)
    async with guarded(FakeSpeaker(), limit=4) as server:
        clients = [await server.connect() for _ in range(4 + SURPLUS)]
        await until(server, 4 + SURPLUS)
        reader, writer = await server.connect()
        assert await ended(reader) == b""
        assert server.closed_for("refused") == 1
        assert len(server.connections) == 4 + SURPLUS
        for _, each in clients:
            each.close()
        writer.close()
        await until(server, 0)
        reader, writer = await server.connect()
        await asks_health(reader, writer)
        writer.close()


# -- what must still work


async def test_requests_in_one_packet_are_answered_in_order() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(HEALTH + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH)
        assert [(await answer(reader))[0] for _ in range(3)] == [200, 404, 200]
        writer.close()


async def test_a_client_that_waits_to_be_told_to_go_on_is_told() -> None:
    body = b'{"input": "Hello."}'
    async with guarded(FakeSpeaker(speech(10)), header_timeout=LONG) as server:
        reader, writer = await server.connect()
        head, _, _ = raw_post(body).partition(b"\r\n\r\n")
        writer.write(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT) == b"HTTP/1.1 100 Continue\r\n"
        await reader.readline()
        writer.write(body)
        assert await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT) == b"HTTP/1.1 200 OK\r\n"
        writer.close()


async def test_http_1_0_is_answered_and_closed() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(HEALTH.replace(b"1.1", b"1.0"))
        assert (await answer(reader))[0] == 200
        assert await ended(reader) == b""
        writer.close()


# -- accepting


class Exhausted:
    """A listening socket whose `accept` fails while `broken`."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.broken = True
        self.failed = 0

    def accept(self) -> tuple[socket.socket, object]:
        if self.broken:
            self.failed += 1
            raise OSError(24, "Too many open files")
        return self._listener.accept()

    def fileno(self) -> int:
        return self._listener.fileno()

    def setblocking(self, flag: bool) -> None:
        self._listener.setblocking(flag)


async def test_what_accept_lacks_is_one_line_and_whoever_waits_is_served_when_it_is_there(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("frontend.http.connections.acceptor.RETRY", 0.01)
    runner = web.AppRunner(make_app(FakeSpeaker(), FrontSettings(), Metrics()), access_log=None)
    await runner.setup()
    assert runner.server is not None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broken = Exhausted(listener)
        acceptor = Acceptor(broken, Connections(runner.server, FrontSettings(), 10, Metrics()))  # type: ignore[arg-type]
        acceptor.start()
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(HEALTH)
        while broken.failed < 3:
            await turn()
        broken.broken = False
        assert (await answer(reader))[0] == 200
        writer.close()
        await acceptor.stop()
        await runner.cleanup()
    lines = [record.getMessage() for record in caplog.records if record.name == "frontend.http.connections.acceptor"]
    assert lines == [
        "can't accept connections, trying again each 0.01 s: Too many open files",
        "connections are accepted again",
    ]
