"""Connections over real sockets: the number of places, each client's time, and what the system counts and keeps."""

import asyncio
import json
import select
import socket
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest
from aiohttp import web

from frontend.serving import acceptor
from frontend.serving import connections as connections_module
from frontend.serving.acceptor import is_untouched
from frontend.serving.connections import OVER_LIMIT
from frontend.serving.gate import Gate
from frontend.serving.sending import bound_transport
from shm import listeners
from tests import platforms
from tests.frontend.http.guarded import ALIVE, HEALTH, LONG, answer, asks_health, ended, guarded, turn, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech


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


async def test_a_websocket_is_closed_for_a_newcomer_only_while_nothing_is_spoken_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections_module, "SETTLED", 0.0)
    gate = asyncio.Event()
    async with guarded(FakeSpeaker(speech(10), gate), limit=1) as server, aiohttp.ClientSession() as session:
        socket = await session.ws_connect(f"http://127.0.0.1:{server.port}/v1/speak")
        assert (await socket.receive(timeout=DEFAULT_TIMEOUT)).json()["type"] == "Metadata"
        await socket.send_json({"type": "Speak", "text": "Hello there. And"})
        assert (await socket.receive(timeout=DEFAULT_TIMEOUT)).type is aiohttp.WSMsgType.BINARY
        surplus = await server.connect()
        await asks_health(*surplus)
        assert await ended(surplus[0]) == b"" and server.closed_for("room") == 0
        await socket.send_json({"type": "Clear"})
        assert (await socket.receive(timeout=DEFAULT_TIMEOUT)).json()["type"] == "Cleared"
        newcomer = await server.connect()
        await asks_health(*newcomer)
        assert server.closed_for("room") == 1
        assert (await socket.receive(timeout=DEFAULT_TIMEOUT)).type is aiohttp.WSMsgType.CLOSED
        for _, writer in (surplus, newcomer):
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


async def test_with_all_places_taken_by_those_who_just_began_the_rest_is_closed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections_module, "SETTLED", LONG)
    async with guarded(FakeSpeaker(), limit=4) as server:
        clients = []
        for count in range(4 + OVER_LIMIT):
            clients.append(await server.connect())
            clients[-1][1].write(HEALTH[:9])
            await until(server, count + 1)
            while server.connections._unheard:
                await turn()
        reader, writer = await server.connect()
        assert await ended(reader) == b""
        assert server.closed_for("refused") == 1
        assert len(server.connections) == 4 + OVER_LIMIT
        for _, each in clients:
            each.close()
        writer.close()
        await until(server, 0)
        reader, writer = await server.connect()
        await asks_health(reader, writer)
        writer.close()


async def test_a_crowd_that_says_nothing_keeps_nobody_out_and_costs_nobody_who_asks_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However fast it comes: the places are those of clients who have sent something, read or not."""
    monkeypatch.setattr(connections_module, "SETTLED", LONG)
    async with guarded(FakeSpeaker(), limit=40) as server:
        clients = [await server.connect() for _ in range(200)]
        asking = []
        for place in range(200):
            asking += [await server.connect()] if place % 10 == 0 else []
            clients.append(await server.connect())
            if place % 10 == 0:
                asking[-1][1].write(HEALTH)
        for reader, _ in asking:
            assert (await answer(reader))[::2] == (200, ALIVE)
        assert server.closed_for("refused") == 0
        assert server.closed_for("room") >= 400 - 40
        for _, writer in (*clients, *asking):
            writer.close()


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


@pytest.mark.parametrize(("limit", "room"), [(48, 5), (64, 9), (80, 13), (128, 52), (4096, 1000)])
def test_few_descriptors_leave_room_for_a_few_clients(limit: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A front has 28 descriptors open before its first client."""
    monkeypatch.setattr(acceptor.psutil, "Process", lambda: SimpleNamespace(num_fds=lambda: 28))
    monkeypatch.setattr(listeners.resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(listeners.resource, "setrlimit", lambda *_: None)
    assert acceptor.room_for(1000) == room


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


CLIENTS_BUFFER = 8192


def taken(ring: float) -> int:
    """Bytes that leave for a client with a small buffer that reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CLIENTS_BUFFER)
        deaf.connect(listener.getsockname())
        ours, _ = listener.accept()
        with ours:
            ours.setblocking(False)
            transport = SimpleNamespace(get_extra_info=lambda name: {"socket": ours}[name])
            bound_transport(cast(asyncio.BaseTransport, transport), ring)
            sent = 0
            while True:
                try:
                    sent += ours.send(bytes(4096))
                except BlockingIOError:
                    return sent


@pytest.mark.parametrize("ring", [20 * 48_000, 60 * 48_000, 120 * 48_000])
def test_a_client_that_reads_nothing_takes_less_than_half_a_ring(ring: int) -> None:
    assert taken(ring) < ring / 2


def test_a_longer_ring_has_a_larger_buffer() -> None:
    assert taken(4 * 48_000) < taken(40 * 48_000)


@platforms.linux_only("only Linux counts a connection's bytes")
@pytest.mark.parametrize("ends", [False, True], ids=["stays", "ends"])
@pytest.mark.parametrize("sent", [0, 10])
def test_a_connection_is_untouched_until_something_is_read_of_it(sent: int, ends: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        client.sendall(b"x" * sent)
        if ends:
            client.shutdown(socket.SHUT_WR)
        served, _ = listener.accept()
        with served:
            poll = select.poll()
            poll.register(served, select.POLLRDHUP if ends else select.POLLIN)
            if sent or ends:
                assert poll.poll(60_000)
            assert is_untouched(served)
            if sent:
                served.recv(1)
                assert not is_untouched(served)
