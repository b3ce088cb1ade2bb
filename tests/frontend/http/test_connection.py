"""One connection: the time for a head, when it waits for its client, and what is told of its end."""

import asyncio

import pytest

from frontend.monitoring.metrics import Metrics
from frontend.serving.connections import Connection, Connections
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import DEFAULT_TIMEOUT
from tests.frontend.timers import due_timers_act

SOON, LATE = FrontSettings(header_timeout=1e-9), FrontSettings(header_timeout=1000.0)


class RecordedRegister(Connections):
    """A register that writes down what it is told."""

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


async def test_the_bytes_of_one_head_share_one_time(register: RecordedRegister) -> None:
    connection, _ = connected(register)
    for _ in range(3):
        connection.data_received(b"G")
    assert register.told == []
    connection.connection_lost(None)


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
