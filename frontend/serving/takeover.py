"""Takes over a connection whose front was killed: what didn't leave is sent, and the request in hand is continued.

- Bytes that the kernel hasn't taken of those that the dead front had written are written first.
- Without a request in hand, the connection then waits for its client as any other.
- A request that was half received goes on being received.
- A request whose answer has begun, or not, is handled again, if it may be. The answer's makers leave out what was sent.
- Every other answer is cut: its client sees an incomplete answer.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from frontend.serving.connections import Connection, Connections
from frontend.serving.record import DEATHS, Record
from frontend.serving.tcp_counts import is_counted, taken
from shm.records import Slot

ALONE = 2.0
"""Most seconds for which an answer that fronts may have died of is continued alone."""

log = logging.getLogger(__name__)


async def take_over(
    connections: Connections,
    slot: Slot,
    client: socket.socket,
    make_protocol: Callable[[], asyncio.Protocol] | None = None,
    *,
    blameless: bool = False,
) -> Connection | None:
    """Continue a connection; returns None if it can't be: the caller then closes it.

    Call it once an engine speaks: a request that is handled again is rejected without one.

    Args:
        slot: what the killed front has left.
        make_protocol: the protocol behind the connection, if the client doesn't speak HTTP.
        blameless: the front was killed from outside, so its death isn't counted.
    """
    entry = slot.entry
    # Fronts that died in a row without progress of the request in hand, the last one included.
    deaths = 0 if entry.progressed or not entry.serial or entry.rests else entry.deaths + (not blameless)
    if not deaths or entry.done:
        return await _continued(connections, slot, client, make_protocol, deaths)
    async with connections.suspects:
        connection = await _continued(connections, slot, client, make_protocol, deaths)
        if connection is not None and connection.record is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(ALONE):
                    await connection.record.progressed.wait()
        return connection


async def _continued(
    connections: Connections,
    slot: Slot,
    client: socket.socket,
    make_protocol: Callable[[], asyncio.Protocol] | None,
    deaths: int,
) -> Connection | None:
    unsent = _unsent(slot, client)
    entry = slot.entry
    ends = entry.done and entry.closes
    connection = None
    if unsent is not None and _can_go_on(slot, deaths) and not (ends and not unsent):
        slot.commit(replace(entry, deaths=deaths, progressed=False))
        connection = connections.admit(make_protocol, Record(slot, unsent))
    if connection is None:
        if (entry.begun or entry.serial) and not entry.done:
            log.warning("%s is cut: another front can't continue it", entry.request_id or "a connection")
            connections.overdue("takeover")
        slot.clear()
        return None
    connection.number = entry.connection
    client.setblocking(False)
    try:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, client)
    except OSError as error:  # the client left before the connection had a transport
        log.debug("a client left at once: %s", error)
        connections.lost(connection)
        return None
    return connection


def _unsent(slot: Slot, client: socket.socket) -> bytes | None:
    """The bytes that are still to be sent; None if they aren't known."""
    try:
        return slot.unsent(taken(client)) if is_counted(client) else None
    except OSError as error:  # the client has left
        log.debug("the bytes of a connection can't be counted: %s", error)
        return None


def _can_go_on(slot: Slot, deaths: int) -> bool:
    entry = slot.entry
    if entry.lost or entry.done or not (entry.serial or entry.begun):
        return not entry.lost
    if deaths >= DEATHS:
        log.error("%s is cut: %d fronts have died of it without progress", entry.request_id, deaths)
        return False
    return entry.repeatable and (bool(entry.place) or not entry.begun)
