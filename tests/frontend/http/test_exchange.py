"""The requests of one connection: the time for a head, and whether the connection waits for its client."""

from __future__ import annotations

import asyncio

from frontend.serving.connections.exchange import Exchange
from tests.frontend.http.guarded import LONG
from tests.frontend.http_fakes import DEFAULT_TIMEOUT
from tests.frontend.timers import due_timers_act


class RecordedLine:
    """Implements `Peer`."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.closed = asyncio.Event()

    def idle(self) -> None:
        self.told.append("idle")

    def busy(self) -> None:
        self.told.append("busy")

    def overdue(self, reason: str) -> None:
        self.told.append(reason)

    def close(self) -> None:
        self.closed.set()


async def test_a_head_that_is_not_whole_in_time_closes_the_connection() -> None:
    line = RecordedLine()
    exchange = Exchange(line, header_timeout=0.0)
    exchange.expects()
    await asyncio.wait_for(line.closed.wait(), DEFAULT_TIMEOUT)
    assert line.told == ["idle", "header_timeout"]


async def test_the_bytes_of_one_head_share_one_time() -> None:
    line = RecordedLine()
    exchange = Exchange(line, LONG)
    for _ in range(3):
        exchange.expects()
    assert line.told == ["idle"]
    exchange.close()


async def test_no_head_is_expected_while_a_handler_runs() -> None:
    line = RecordedLine()
    exchange = Exchange(line, header_timeout=0.0)
    exchange.expects()
    exchange.began()
    exchange.expects()
    await due_timers_act()
    assert line.told == ["idle", "busy"] and not line.closed.is_set()
    exchange.ended()
    await due_timers_act()
    assert not line.closed.is_set(), "the time of a later head begins with its first byte"
    exchange.expects()
    await asyncio.wait_for(line.closed.wait(), DEFAULT_TIMEOUT)


async def test_an_exchange_that_is_closed_closes_nothing_later() -> None:
    line = RecordedLine()
    exchange = Exchange(line, header_timeout=0.0)
    exchange.expects()
    exchange.close()
    await due_timers_act()
    assert line.told == ["idle"] and not line.closed.is_set()


async def test_a_connection_waits_for_its_client_between_requests_and_while_the_handler_rests() -> None:
    line = RecordedLine()
    exchange = Exchange(line, LONG)
    waits = [exchange.waits]
    for event in (exchange.began, exchange.rests, exchange.works, exchange.rests, exchange.ended, exchange.began):
        event()
        waits.append(exchange.waits)
    assert waits == [True, False, True, False, True, True, False]
    assert line.told == ["busy", "idle", "busy", "idle", "idle", "busy"]


async def test_only_a_response_that_has_begun_is_cut_by_its_handlers_end() -> None:
    line = RecordedLine()
    exchange = Exchange(line, LONG)
    exchange.began()
    exchange.cancelled()
    assert "drain" not in line.told
    exchange.answers()
    exchange.cancelled()
    assert line.told.count("drain") == 1
    exchange.ended()
    exchange.began()
    exchange.cancelled()
    assert line.told.count("drain") == 1
