"""One connection: the time for a head, waits for its client, its copy at the supervisor, and how its end is told."""

import asyncio
import contextlib
import random

import pytest
from aiohttp import WSMsgType

from frontend.monitoring.metrics import Metrics
from frontend.serving import connections as connections_module
from frontend.serving.connections import Connection, Connections, InterruptibleWait
from frontend.serving.record import MessageEnds
from frontend.settings.front import FrontSettings
from shm.handover import Handover
from tests.frontend.handing_over import turn
from tests.frontend.http.guarded import ALIVE, HEALTH, LONG, answer, asks_health, ended, guarded, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech
from tests.frontend.timers import due_timers_act

SOON, LATE = FrontSettings(header_timeout=1e-9), FrontSettings(header_timeout=1000.0)


class RecordedRegister(Connections):
    def __init__(self) -> None:
        super().__init__(asyncio.Protocol, LATE, 10, Metrics())
        self.told: list[str] = []

    def idle(self, connection: Connection) -> None:
        self.told.append("idle")

    def busy(self, connection: Connection) -> None:
        self.told.append("busy")

    def overdue(self, reason: str) -> None:
        self.told.append(reason)

    def lost(self, connection: Connection) -> None:
        self.told.append("lost")


class FakeTransport(asyncio.Transport):
    """A transport that is open until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = asyncio.Event()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed.is_set()

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
async def register() -> RecordedRegister:
    return RecordedRegister()


def connected(register: RecordedRegister, settings: FrontSettings = LATE) -> tuple[Connection, FakeTransport]:
    """A connection whose client is to send a head."""
    made, transport = Connection(asyncio.Protocol(), settings, register), FakeTransport()
    made.connection_made(transport)
    assert register.told == ["idle"]
    register.told.clear()
    return made, transport


async def test_a_head_that_is_not_whole_in_time_closes_the_connection(register: RecordedRegister) -> None:
    _, transport = connected(register, SOON)
    await asyncio.wait_for(transport.closed.wait(), DEFAULT_TIMEOUT)
    assert register.told == ["header_timeout"]


async def test_no_head_is_expected_while_a_handler_runs(register: RecordedRegister) -> None:
    connection, transport = connected(register, SOON)
    connection.began()
    connection.data_received(b"G")
    await due_timers_act()
    assert register.told == ["busy"] and not transport.closed.is_set()
    connection.ended()
    await due_timers_act()
    assert not transport.closed.is_set(), "the time of a later head begins with its first byte"
    connection.data_received(b"G")
    await asyncio.wait_for(transport.closed.wait(), DEFAULT_TIMEOUT)


async def test_a_lost_connection_is_closed_by_no_timer(register: RecordedRegister) -> None:
    connection, transport = connected(register, SOON)
    connection.connection_lost(None)
    await due_timers_act()
    assert register.told == ["lost"] and not transport.closed.is_set()


async def test_a_connection_waits_for_its_client_between_requests_and_while_the_handler_rests(
    register: RecordedRegister,
) -> None:
    connection, _ = connected(register)
    for event in (connection.began, connection.rests, connection.works, connection.rests, connection.ended):
        event()
    assert register.told == ["busy", "idle", "busy", "idle", "idle"]
    connection.connection_lost(None)


async def test_only_a_response_that_has_begun_is_cut_by_its_handlers_end(register: RecordedRegister) -> None:
    connection, _ = connected(register)
    connection.began()
    connection.cancelled()
    assert "drain" not in register.told
    connection.answers()
    connection.cancelled()
    assert register.told.count("drain") == 1
    connection.ended()
    connection.began()
    connection.cancelled()
    assert register.told.count("drain") == 1
    connection.connection_lost(None)


async def test_a_connection_with_unsent_bytes_does_not_wait_for_its_client(register: RecordedRegister) -> None:
    connection, _ = connected(register)
    connection.began()
    connection.pause_writing()
    connection.ended()
    connection.data_received(b"G")
    assert register.told == ["busy", "busy"] and not connection.writable.is_set()
    connection.resume_writing()
    assert register.told == ["busy", "busy", "idle"] and connection.writable.is_set()
    connection.connection_lost(None)


async def test_a_handler_at_work_goes_on_when_its_bytes_are_sent(register: RecordedRegister) -> None:
    connection, _ = connected(register)
    connection.began()
    connection.pause_writing()
    connection.resume_writing()
    assert "idle" not in register.told
    connection.rests()
    connection.pause_writing()
    connection.resume_writing()
    assert register.told[-1] == "idle", "it rests, so that its client is the one to send"
    connection.connection_lost(None)


async def test_a_client_that_has_left_is_not_cut_by_the_drain(register: RecordedRegister) -> None:
    connection, _ = connected(register)
    connection.began()
    connection.answers()
    connection.connection_lost(None)
    connection.cancelled()
    assert register.told == ["busy", "lost"] and connection.writable.is_set()


async def message() -> str:
    return "message"


async def test_a_wait_lasts_no_longer_than_its_time() -> None:
    with pytest.raises(TimeoutError):
        await InterruptibleWait().of(asyncio.Event().wait(), 0.0)


async def test_the_server_ends_the_present_wait_and_no_later_one() -> None:
    wait, begun = InterruptibleWait(), asyncio.Event()

    async def silence() -> None:
        begun.set()
        await asyncio.Event().wait()

    wait.end()
    waiting = asyncio.create_task(wait.of(silence(), LONG))
    await asyncio.wait_for(begun.wait(), DEFAULT_TIMEOUT)
    for _ in range(2):
        wait.end()
    await asyncio.wait((waiting,), timeout=DEFAULT_TIMEOUT)
    assert isinstance(waiting.exception(), TimeoutError)
    wait.end()
    assert await wait.of(message(), LONG) == "message"


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
    monkeypatch.setattr(connections_module, "OVER_LIMIT", 0)
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


def frame(draw: random.Random, opcode: int, length: int, *, final: bool = True) -> bytes:
    """A frame, masked or not."""
    masked = draw.random() < 0.5
    head = bytes([opcode | (0x80 if final else 0)])
    mask = 0x80 if masked else 0
    if length < 126:
        head += bytes([mask | length])
    elif length < 1 << 16:
        head += bytes([mask | 126]) + length.to_bytes(2, "big")
    else:
        head += bytes([mask | 127]) + length.to_bytes(8, "big")
    return head + (bytes(4) if masked else b"") + b"a" * length


@pytest.mark.parametrize("seed", range(20))
def test_messages_end_with_their_last_frame(seed: int) -> None:
    draw = random.Random(seed)
    wire, ends = b"", []
    for _ in range(30):
        match draw.choice(("text", "parts", "ping")):
            case "text":
                wire += frame(draw, WSMsgType.TEXT, draw.choice((0, 5, 125, 126, 300, 1 << 16)))
            case "parts":
                wire += frame(draw, WSMsgType.TEXT, draw.randrange(200), final=False)
                wire += frame(draw, WSMsgType.PING, 3)
                wire += frame(draw, WSMsgType.CONTINUATION, draw.randrange(200))
            case "ping":
                wire += frame(draw, WSMsgType.PING, draw.randrange(100))
                continue
        ends.append(len(wire))
    found, at = MessageEnds(), 0
    while at < len(wire):
        step = draw.choice((1, 2, 7, 1000, 1 << 17))
        found.feed(wire[at : at + step])
        at += step
    assert [*found.waiting] == ends
    assert found.whole == len(wire)
    found.feed(frame(draw, WSMsgType.CLOSE, 2))
    assert found.whole == len(wire), "the reader has yet to answer it"
