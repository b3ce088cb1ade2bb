"""Answers that fronts may have died of: those at which fewer have died go on first."""

import asyncio
import socket
import time
from typing import Any

import pytest
from msgspec.structs import replace

from frontend.contract.progress import Progress
from frontend.monitoring.metrics import Metrics
from frontend.serving import acceptor
from frontend.serving.acceptor import take_over
from frontend.serving.connections import Connections
from frontend.serving.record import DEATHS, Record
from frontend.settings.front import FrontSettings
from shm.in_flight import DeathCause
from shm.records import SLOT_BYTES, ConnectionEntry, Records, Slot, reserve_records
from tests.frontend.http_fakes import DEFAULT_TIMEOUT


async def test_fewer_deaths_go_on_first_and_of_these_what_is_being_heard() -> None:
    records = Records(reserve_records())
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    order: list[int] = []
    clients: list[socket.socket] = []

    async def go_on(number: int, deaths: int, begun: bool, listener: socket.socket) -> None:
        class Protocol(asyncio.Protocol):
            def data_received(self, _data: bytes) -> None:
                order.append(number)
                connection.transport.close()

        connection = Protocol()
        connection.connection_made = lambda transport: setattr(connection, "transport", transport)  # type: ignore[method-assign]
        clients.append(socket.create_connection(listener.getsockname()))
        slot = records.begin(number, number)
        assert slot
        slot.receive(b"GET / HTTP/1.1\r\n\r\n")
        place = b"place" if begun else b""
        entry = ConnectionEntry(number, serial=1, received=slot.entry.received, deaths=deaths, begun=begun, place=place)
        slot.commit(entry)
        assert await take_over(connections, slot, listener.accept()[0], lambda: connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.timeout(DEFAULT_TIMEOUT), asyncio.TaskGroup() as group:
            for number, (deaths, begun) in enumerate(((2, False), (1, False), (0, False), (0, True))):
                group.create_task(go_on(number, deaths, begun, listener))
    assert order == [3, 2, 1, 0]
    for client in clients:
        client.close()
    records.close()


async def test_the_turn_of_every_answer_comes_though_fronts_die_sooner_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round another front dies while the answer still waits, unless it need not wait any more."""
    monkeypatch.setattr(acceptor, "LATER", 3600.0)
    monkeypatch.setattr(acceptor, "ALONE", 0.0)
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, deaths=6))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        ours = listener.accept()[0]
        for waited in range(1, 8):
            waiting = asyncio.create_task(take_over(connections, slot, ours, asyncio.Protocol))
            await asyncio.sleep(0)
            assert (slot.entry.deaths, slot.entry.waited, waiting.done()) == (6, waited, False), "it isn't to blame"
            waiting.cancel()
        connection = await take_over(connections, slot, ours, asyncio.Protocol)
        assert connection is not None and (slot.entry.deaths, slot.entry.waited) == (7, 0)
        connection.close()


@pytest.mark.parametrize(("encoded", "caught_up", "counted"), [(0, False, 1), (480, True, 1), (480, False, 0.25)])
async def test_a_death_on_the_way_to_where_the_last_front_died_counts_in_part(
    encoded: int, caught_up: bool, counted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "ALONE", 0.0)
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, encoded=encoded, caught_up=caught_up))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        connection = await take_over(connections, slot, listener.accept()[0], asyncio.Protocol)
        assert connection is not None and connection.record is not None
        assert (slot.entry.unexplained, slot.entry.caught_up) == (counted, False)
        connection.close()


@pytest.mark.parametrize(("why", "code"), [({"lost": True}, 1012), ({"unexplained": DEATHS}, 1011)])
async def test_a_socket_that_is_not_continued_is_closed_in_its_protocol(
    why: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the frame of which the client has a part."""
    metrics = Metrics()
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, metrics)
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.send(b"\x81\x02{}", ConnectionEntry(1, serial=1, begun=True, is_socket=True), all_taken=True)
    slot.commit(replace(slot.entry, **why))
    monkeypatch.setattr(acceptor, "taken", lambda _: 1)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        ours = listener.accept()[0]
        assert await take_over(connections, slot, ours, cause=DeathCause.OUTSIDE) is None
        ours.close()
        assert client.recv(16) == b"\x02{}\x88\x02" + code.to_bytes(2, "big")
    assert metrics.totals()["kokoro_live_connections_closed_total"] == 1


def test_a_successor_knows_since_when_a_request_waits_and_how_it_was_planned() -> None:
    slot = Slot(bytearray(SLOT_BYTES), 0)
    first, before = Record(slot), time.monotonic()
    first.began("one", repeatable=True)
    after = time.monotonic()
    first.keep_profile([1.0, 2.0])
    assert first.profile == []
    successor = Record(slot, b"")
    successor.began("one", repeatable=True)
    assert successor.again and before <= successor.arrived <= after
    assert (successor.profile, successor.left) == ([1.0, 2.0], b"")
    slot.next_request()
    successor.began("two", repeatable=True)
    assert successor.profile == []


@pytest.mark.parametrize("again", [True, False])
def test_a_text_is_cleared_once_more_of_it_is_encoded_than_by_the_fronts_that_died(again: bool) -> None:
    """The first samples of a new request clear nothing."""
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, encoded=4800))
    cleared: list[int] = []
    samples = 0
    progress = Progress(moved=Record(slot, b"").moved, again=again, went_on=lambda: cleared.append(samples))
    for samples in (2400, 4800, 7200, 9600):
        progress.encoded(samples)
    assert cleared == [7200] * again
