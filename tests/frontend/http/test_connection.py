"""One connection's reports to the register: when it waits for its client, and what is told of its end."""

from __future__ import annotations

import asyncio

import pytest

from frontend.serving.connections.connection import Connection
from frontend.settings.front import FrontSettings


class RecordedRegister:
    """Implements `Register`."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def idle(self, connection: Connection) -> None:
        self.told.append("idle")

    def busy(self, connection: Connection) -> None:
        self.told.append("busy")

    def overdue(self, connection: Connection, reason: str) -> None:
        self.told.append(reason)

    def lost(self, connection: Connection) -> None:
        self.told.append("lost")


class FakeTransport(asyncio.Transport):
    """A transport that is open."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return False


@pytest.fixture
async def register() -> RecordedRegister:
    return RecordedRegister()


@pytest.fixture
async def connection(register: RecordedRegister) -> Connection:
    made = Connection(asyncio.Protocol(), FrontSettings(), register)
    made.connection_made(FakeTransport())
    assert register.told == ["idle"]
    register.told.clear()
    return made


async def test_a_connection_with_unsent_bytes_does_not_wait_for_its_client(
    connection: Connection, register: RecordedRegister
) -> None:
    connection.exchange.began()
    connection.pause_writing()
    connection.exchange.ended()
    connection.data_received(b"G")
    assert register.told == ["busy", "busy"] and not connection.writable.is_set()
    connection.resume_writing()
    assert register.told == ["busy", "busy", "idle"] and connection.writable.is_set()
    connection.connection_lost(None)


async def test_a_handler_at_work_goes_on_when_its_bytes_are_sent(
    connection: Connection, register: RecordedRegister
) -> None:
    connection.exchange.began()
    connection.pause_writing()
    connection.resume_writing()
    assert "idle" not in register.told
    connection.connection_lost(None)


async def test_a_client_that_has_left_is_not_cut_by_the_drain(
    connection: Connection, register: RecordedRegister
) -> None:
    connection.exchange.began()
    connection.exchange.answers()
    connection.connection_lost(None)
    connection.exchange.cancelled()
    assert register.told == ["busy", "lost"] and connection.writable.is_set()
