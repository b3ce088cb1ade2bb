"""Connections whose copy the supervisor has: their clients see each end at once, and a front's death ends none."""

import asyncio
import contextlib

import pytest

from frontend.serving import connections as connections_module
from shm.handover import Handover
from tests.frontend.handing_over import turn
from tests.frontend.http.guarded import ALIVE, HEALTH, answer, asks_health, ended, guarded, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech

SPEECH = raw_post(b'{"input": "Hello.", "response_format": "pcm"}')
ONCE = HEALTH.replace(b"localhost\r\n", b"localhost\r\nConnection: close\r\n")

ENDS = {
    "the response was the last": (ONCE, {}),
    "HTTP/1.0": (HEALTH.replace(b"1.1", b"1.0"), {}),
    "no request": (b"\xff\xfe\r\n\r\n", {}),
    "no whole head": (b"GET", {"header_timeout": 0.01}),
    "no next request": (HEALTH, {"keepalive_timeout": 0.01}),
    "no whole body": (SPEECH[:-2], {"body_timeout": 0.01}),
}


@pytest.mark.parametrize("kind", ENDS)
async def test_the_client_sees_an_end_though_the_supervisor_stands_still(kind: str) -> None:
    request, settings = ENDS[kind]
    async with guarded(FakeSpeaker(speech(10)), **settings) as server:
        reader, writer = await server.connect()
        await until(server, 1)
        server.given.stands_still()
        writer.write(request)
        await ended(reader)
        await until(server, 0)
        assert len(server.given.connections) == 1, "the supervisor knows of nothing"
        server.given.goes_on()
        writer.close()


@pytest.mark.parametrize("why", ["refused", "room"])
async def test_whoever_finds_no_room_or_makes_it_sees_the_end(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "SURPLUS", 0)
    monkeypatch.setattr(connections_module, "SETTLED", 0.0 if why == "room" else 1000.0)
    async with guarded(FakeSpeaker(), limit=1) as server:
        first = await server.connect()
        if why == "refused":
            first[1].write(HEALTH[:9])  # who has said nothing would make room
            await until(server, 1)
            while server.connections._unheard:
                await turn()
        second = await server.connect()
        assert await ended((first if why == "room" else second)[0]) == b""
        assert server.closed_for(why) == 1
        for _, writer in (first, second):
            writer.close()


async def test_a_cut_answer_without_chunks_ends_with_a_reset() -> None:
    """The supervisor's copy is the last: what it closes it must close as the front wanted it closed."""
    gate = asyncio.Event()
    async with guarded(FakeSpeaker(speech(10), gate)) as server:
        reader, writer = await server.connect()
        writer.write(SPEECH.replace(b"HTTP/1.1", b"HTTP/1.0"))
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
        (connection,) = server.connections._open
        connection.close()
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        gate.set()
        with contextlib.suppress(ConnectionResetError):
            writer.close()


async def test_a_connection_of_which_the_dead_front_read_nothing_is_served_by_the_next() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        await until(server, 1)
        (connection,) = server.connections._open
        while connection._transport is None:
            await turn()
        connection._transport.pause_reading()
        writer.write(HEALTH)
        server.given.dies()
        server.take_over(server.given.front())
        assert (await answer(reader))[::2] == (200, ALIVE)
        connection._transport.abort()
        writer.close()


async def test_a_connection_of_which_the_dead_front_read_something_is_closed() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        await asks_health(reader, writer)
        server.given.dies()
        server.take_over(server.given.front())
        assert await ended(reader) == b""
        writer.close()


async def test_what_a_draining_front_has_not_taken_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with guarded(FakeSpeaker()) as server:
        monkeypatch.setattr("frontend.serving.acceptor.AT_ONCE", 0)  # it has no time to take any
        reader, writer = await server.connect()
        while not len(server.given.connections):
            await turn()
        writer.write(HEALTH)
        successor = server.given.front()
        await server.acceptor.stop()
        monkeypatch.undo()
        server.take_over(successor)
        assert (await answer(reader))[::2] == (200, ALIVE)
        writer.close()


async def test_a_connection_of_which_a_draining_front_has_read_nothing_goes_back() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        await until(server, 1)
        successor = server.given.front()
        await server.acceptor.stop()
        await until(server, 0)
        writer.write(HEALTH)
        server.take_over(successor)
        assert (await answer(reader))[::2] == (200, ALIVE)
        writer.close()


async def test_a_front_without_a_free_descriptor_gives_the_connection_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("supervisor.processes.connections.RETRY", 0.01)
    taking, lacks = Handover.take, 3

    def take(self: Handover) -> object:
        nonlocal lacks
        taken = taking(self)
        if taken is None or not lacks or taken[1] is None:
            return taken
        lacks -= 1
        taken[1].close()
        return taken[0], None

    monkeypatch.setattr(Handover, "take", take)
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(HEALTH)
        assert (await answer(reader))[::2] == (200, ALIVE)
        writer.close()
    lines = [record.getMessage() for record in caplog.records if record.name == "frontend.serving.acceptor"]
    assert lines == ["can't accept connections, the supervisor keeps them: Too many open files"] and not lacks


async def test_reports_wait_while_the_supervisor_stands_still() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        await until(server, 1)
        server.given.stands_still()
        for number in range(5000):  # of connections that the supervisor doesn't have
            server.connections.closed(10_000 + number)
        writer.write(ONCE)
        await ended(reader)
        await until(server, 0)
        assert server.acceptor._reports, "the channel is full"
        server.given.goes_on()
        await server.given.nothing_kept()
        assert not server.acceptor._reports
        writer.close()
