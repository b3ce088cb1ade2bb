"""Takes the connections that the supervisor hands over, as many as there are descriptors for; reports their ends.

- Bytes that the kernel hasn't taken of those that the dead front had written are written first.
- Without a request in hand, the connection then waits for its client as any other.
- A request that was half received goes on being received.
- A request whose answer has begun, or not, is handled again, if it may be. The answer's makers leave out what was sent.
- Every other answer is cut: its client sees an incomplete answer.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import logging
import os
import socket
import struct
import sys
import termios
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress

import psutil
from aiohttp import WSCloseCode, WSMsgType
from msgspec.structs import replace

from frontend.serving.connections import Connection, Connections, end
from frontend.serving.record import DEATHS, Record
from shm.frames import BrokenChannel
from shm.handover import Accepted, Handover, Port, Report, Said
from shm.in_flight import DeathCause
from shm.listeners import allowed_files
from shm.records import ConnectionEntry, Records, Slot

_TCP_INFO = 11
"""Linux's option; Python's `socket` names it on Linux only."""

_BYTES_ACKED, _BYTES_RECEIVED = 120, 128
"""Offsets of tcpi_bytes_acked and tcpi_bytes_received in struct tcp_info (linux/tcp.h; 4.1 and newer)."""

_CLOSE_WAIT = 8
"""tcpi_state, the first byte, of a connection whose peer sends no more (include/net/tcp_states.h)."""


def _count(connection: socket.socket, offset: int) -> int:
    information = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 256)
    return int(struct.unpack_from("Q", information, offset)[0])


def _queue(connection: socket.socket, request: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(connection, request, bytes(4)))[0])


def taken(connection: socket.socket) -> int:
    """Bytes that the kernel has taken of what was written to a connection that this host accepted.

    An acknowledgement between the two readings would be counted twice or not at all, so both are read until none came.
    docs/decisions/place-of-an-answer.md has the measurement.
    """
    while True:
        before = _count(connection, _BYTES_ACKED)
        queued = _queue(connection, termios.TIOCOUTQ)
        if _count(connection, _BYTES_ACKED) == before:
            return before + queued


def is_counted(connection: socket.socket) -> bool:
    """True if the kernel counts the connection's bytes: Linux does, over TCP."""
    return sys.platform == "linux" and connection.family in (socket.AF_INET, socket.AF_INET6)


def is_untouched(connection: socket.socket) -> bool:
    """True if nothing was ever read from the connection; False if that isn't known."""
    if not is_counted(connection):
        return False
    with suppress(OSError, struct.error):
        received = _count(connection, _BYTES_RECEIVED)
        state = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0]
        # The peer's end counts as a byte that was received, and can't be read.
        return received - (state == _CLOSE_WAIT) == _queue(connection, termios.FIONREAD)
    return False


AGAIN, INTERNAL = 1012, WSCloseCode.INTERNAL_ERROR
"""Codes that close a WebSocket which isn't continued: its client may open another at once ("service restart" in IANA's
registry of WebSocket close codes), or fronts have died of it."""

ALONE = 2.0
"""Most seconds for which an answer that fronts may have died of is continued alone."""

LATER = 0.1
"""Seconds by which each further death puts that off: those that fewer fronts died at are cleared first, and an innocent
answer isn't the first to meet the next death again. A front at which its turn didn't come makes up for a death."""

_ON_THE_WAY = 0.25
"""A death that came while an answer was encoded again, and wasn't yet where the front before had died: what kills at
one place of an answer kills there, so that this one counts for little."""


async def take_over(
    connections: Connections,
    slot: Slot,
    client: socket.socket,
    make_protocol: Callable[[], asyncio.Protocol] | None = None,
    *,
    cause: DeathCause = DeathCause.UNKNOWN,
) -> Connection | None:
    """Continue a connection; returns None if it can't be: the caller then closes it.

    Call it once an engine speaks: a request that is handled again is rejected without one.

    Args:
        slot: what the killed front has left.
        make_protocol: the protocol behind the connection, if the client doesn't speak HTTP.
        cause: of that front's death.
    """
    entry = slot.entry
    if entry.progressed or not entry.serial or entry.rests:
        counted = replace(entry, deaths=0, unexplained=0)
    else:
        on_the_way = entry.encoded and not entry.caught_up
        counted = replace(
            entry,
            deaths=entry.deaths + (cause is not DeathCause.OUTSIDE),
            unexplained=entry.unexplained + (cause is DeathCause.UNKNOWN) * (_ON_THE_WAY if on_the_way else 1),
        )
    if not counted.deaths or entry.done:
        return await _continued(connections, slot, client, make_protocol, counted)
    counted = replace(counted, waited=0)
    slot.commit(replace(entry, waited=entry.waited + 1))
    # Nobody plays an answer that hasn't begun: it waits for those that would be silent meanwhile.
    await asyncio.sleep(LATER * max(counted.deaths - entry.begun - entry.waited, 0))
    async with connections.suspects:
        connection = await _continued(connections, slot, client, make_protocol, counted)
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
    entry: ConnectionEntry,
) -> Connection | None:
    """`entry`: the slot's, with the last death counted."""
    unsent = _unsent(slot, client)
    ends = entry.done and entry.closes
    connection = None
    if unsent is not None and _can_go_on(entry) and not (ends and not unsent):
        slot.commit(replace(entry, progressed=False, caught_up=False))
        connection = connections.admit(make_protocol, Record(slot, unsent))
    if connection is None:
        if (entry.begun or entry.serial) and not entry.done:
            log.warning("%s is cut: another front can't continue it", entry.request_id or "a connection")
            connections.overdue("takeover")
            if entry.is_socket and make_protocol is None and unsent is not None:
                _close_socket(client, unsent, AGAIN if entry.lost else INTERNAL)
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


def _close_socket(client: socket.socket, unsent: bytes, code: int) -> None:
    """End a WebSocket whose contexts can't be continued: what was to leave ends with a whole frame."""
    payload = code.to_bytes(2, "big")
    with suppress(OSError):  # the client has left, or reads nothing: it sees the connection's end alone
        client.setblocking(False)
        client.sendall(unsent + bytes((0x80 | WSMsgType.CLOSE, len(payload))) + payload)


def _unsent(slot: Slot, client: socket.socket) -> bytes | None:
    """The bytes that are still to be sent; None if they aren't known."""
    try:
        return slot.unsent(taken(client)) if is_counted(client) else None
    except OSError as error:  # the client has left
        log.debug("the bytes of a connection can't be counted: %s", error)
        return None


def _can_go_on(entry: ConnectionEntry) -> bool:
    if entry.lost or entry.done or not (entry.serial or entry.begun):
        return not entry.lost
    if entry.unexplained >= DEATHS:
        log.error("%s is cut: %d fronts have died of it without progress", entry.request_id, entry.deaths)
        return False
    return entry.repeatable and (bool(entry.place) or not entry.begun)


AT_ONCE = 8
"""Connections taken before the event loop serves the present ones."""

KEPT = 48
"""Descriptors that connections leave free.

16 for channels to workers: four generations, each with two pipes, an arena and its mapping's own; 16 for those that
are refused, or are accepted while another is being closed for them; 16 for what text processing opens when it is first
needed.
"""

ENGINE_PATIENCE = 10.0
"""Seconds for which the answers of a front that died wait for an engine."""

log = logging.getLogger(__name__)

ProtocolFactory = Callable[[], asyncio.Protocol]


class Acceptor:
    """Takes connections from `start` to `stop`, and reports ends for as long as the front lives."""

    def __init__(
        self,
        handover: Handover,
        connections: Connections,
        protocols: Mapping[Port, ProtocolFactory | None],
        records: Records | None = None,
        speaks: Callable[[], Awaitable[object]] | None = None,
        cause: Callable[[], DeathCause] = lambda: DeathCause.UNKNOWN,
    ) -> None:
        """
        Args:
            protocols: the protocol of each port's connections; None is HTTP.
            records: those of all connections; None: no answer of a front that dies is continued.
            speaks: waits until an engine speaks.
            cause: of the last front's death.
        """
        self._cause = cause
        self._records = records
        self._speaks = speaks
        self._handover = handover
        self._connections = connections
        self._protocols = protocols
        self._loop = asyncio.get_running_loop()
        self._joining: set[asyncio.Task[None]] = set()
        self._reports: deque[Report] = deque()
        """Reports that found the channel full."""
        self._failing = False
        connections.closed = self._closed

    def start(self) -> None:
        self._loop.add_reader(self._handover.fileno(), self._take)

    async def stop(self) -> None:
        """Take no more connections. The supervisor gets back those that nobody took, or of which nothing was read: they
        would be closed with the front, though a request may be on its way."""
        self._loop.remove_reader(self._handover.fileno())
        while taken := self._next():
            accepted, client = taken
            if client is not None:
                client.close()
            self._report(Report(accepted.number, Said.RETURNED))
        await asyncio.gather(*self._joining)
        for connection in self._connections.unheard:
            connection.give_back()
            self._report(Report(connection.number, Said.RETURNED))

    def _next(self) -> tuple[Accepted, socket.socket | None] | None:
        try:
            return self._handover.take()
        except BrokenChannel:  # the supervisor has ended, and the control socket says so
            self._loop.remove_reader(self._handover.fileno())
            return None

    def _take(self) -> None:
        for _ in range(AT_ONCE):
            taken = self._next()
            if taken is None:
                return
            accepted, client = taken
            if client is None:
                self._lacks_room(accepted)
                return
            if self._failing:
                self._failing = False
                log.info("connections are accepted again")
            client.setblocking(False)
            if accepted.inherited:
                self._inherit(accepted, client)
            else:
                self._admit(accepted, client)

    def _inherit(self, accepted: Accepted, client: socket.socket) -> None:
        """Go on with a connection whose front has died. One without a record is served if that front had read nothing
        of it, and closed otherwise."""
        slot = self._records.find(accepted.slot, accepted.number) if self._records else None
        if slot is not None:
            self._start(self._take_over(client, slot, self._protocols[accepted.port]))
        elif is_untouched(client):
            self._admit(accepted, client)
        else:
            self._close(accepted.number, client)

    def _admit(self, accepted: Accepted, client: socket.socket) -> None:
        record = None
        if self._records and is_counted(client):
            slot = self._records.begin(accepted.slot, accepted.number)
            record = Record(slot) if slot else None
        connection = self._connections.admit(self._protocols[accepted.port], record)
        if connection is None:
            self._close(accepted.number, client)
            return
        connection.number = accepted.number
        self._start(self._join(client, connection))

    def _start(self, joining: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(joining)
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)

    async def _take_over(self, client: socket.socket, slot: Slot, protocol: ProtocolFactory | None) -> None:
        number = slot.entry.connection
        if slot.entry.serial and not slot.entry.done and self._speaks:
            with suppress(TimeoutError):
                async with asyncio.timeout(ENGINE_PATIENCE):
                    await self._speaks()
        if await take_over(self._connections, slot, client, protocol, cause=self._cause()) is None:
            self._close(number, client)

    async def _join(self, client: socket.socket, connection: Connection) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: connection, client)
        except OSError as error:  # the client left before the connection had a transport
            log.debug("a client left at once: %s", error)
            self._connections.lost(connection)
            self._close(connection.number, client)

    def _lacks_room(self, accepted: Accepted) -> None:
        """Give a connection back for which no descriptor was left; the supervisor tries again after a while."""
        if not self._failing:
            self._failing = True
            log.error("can't accept connections, the supervisor keeps them: %s", os.strerror(errno.EMFILE))
        self._connections.make_room()
        self._report(Report(accepted.number, Said.RETURNED))

    # -- ends

    def _close(self, number: int, client: socket.socket) -> None:
        end(client)
        client.close()
        self._closed(number)

    def _closed(self, number: int) -> None:
        self._report(Report(number, Said.CLOSED))

    def _report(self, report: Report) -> None:
        self._reports.append(report)
        if len(self._reports) == 1:
            self._send_reports()

    def _send_reports(self) -> None:
        try:
            while self._reports:
                self._handover.report(self._reports[0])
                self._reports.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._handover.fileno(), self._send_reports)
            return
        except BrokenChannel:
            self._reports.clear()
        self._loop.remove_writer(self._handover.fileno())


def room_for(wanted: int) -> int:
    """The wanted number of connections, or fewer if the limit on open files leaves no room for them. Raises the soft
    limit as far as the hard one allows.

    Under a limit that leaves less than `KEPT`, connections get a quarter of what is free, and at least one: a server
    that serves a few clients badly is better than one that doesn't start.
    """
    used: int = psutil.Process().num_fds()
    kept = used + KEPT
    soft = allowed_files(kept + wanted)
    if soft is None or soft >= kept + wanted:
        return wanted
    room = max(soft - kept, min(wanted, (soft - used) // 4), 1)
    log.warning("%d open files are allowed: %d connections instead of %d (see ulimit -n)", soft, room, wanted)
    return room
