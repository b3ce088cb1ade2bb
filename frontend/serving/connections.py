"""All connections of a front: aiohttp's protocol behind a guard with time limits, and the limit of their number.

Closing a connection that waits for its client costs that client nothing, so when a newcomer finds no room, the
longest-waiting connection is closed for it, or one whose client has said nothing yet: idle clients keep nobody out,
however many they are and however fast they come. The newcomer itself is refused only if all connections are being
answered or have just begun a request: with 503 by a few connections kept for that, and once those are taken too, by
closing it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import struct
import time
from asyncio.trsock import TransportSocket
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import TypeVar

from aiohttp import StreamReader, web

from frontend.contract.countdown import Countdown
from frontend.monitoring.metrics import Event, Metrics
from frontend.serving.record import Record
from frontend.settings.front import FrontSettings
from shm import request_id
from shm.listeners import TlsClients

OVER_LIMIT = 8
"""Connections beyond the limit that are answered with 503 rather than closed at once."""

SETTLED = 1.0
"""Seconds for which a waiting connection isn't closed for another one: its request may be under way."""

_LOOKED_AT = 16
"""Silent connections that are looked at for one newcomer: each look is a system call."""

Message = TypeVar("Message")

log = logging.getLogger(__name__)


class Connection(asyncio.Protocol):
    """One client's connection. It passes all events on to `protocol`, and closes itself if

    * a request's head isn't whole within `header_timeout` of its first byte, the first one's within that time of the
      connection's beginning;
    * the client doesn't take written data within `write_timeout`: its stream holds a ring meanwhile.

    A connection between two requests is closed by aiohttp's `keepalive_timeout`, a body that doesn't end by its reader.
    `began` and `ended` are called around each request's handler, which starts when a head is whole.
    """

    def __init__(
        self,
        protocol: asyncio.Protocol,
        settings: FrontSettings,
        register: Connections,
        over_limit: bool = False,
        record: Record | None = None,
    ) -> None:
        """`record`: the connection's; None: its answers can't be continued."""
        self.record = record
        self.over_limit = over_limit
        """True if there were too many connections already: the client is told so, or gets one answer, and is
        disconnected."""
        self.writable = asyncio.Event()
        """Set while the system has taken all bytes that were written."""
        self.writable.set()
        self._protocol = protocol
        self._settings = settings
        self._register = register
        self._transport: asyncio.Transport | None = None
        self._head = Countdown(self._head_overdue)
        self._stall = Countdown(self._stalled)
        self._handling = False
        self._resting = False
        """True while the handler waits for its client."""
        self._answering = False
        """True once the present request's response has begun."""
        self._body: StreamReader | None = None
        """The present request's body."""
        self._lost = self._given_back = False
        self.number = 0
        """The number that the supervisor gave it."""
        self._since = time.monotonic()

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._register.show_client(transport)
        if self.record:
            transport = self.record.attach(transport)
        self._transport = transport
        # With these limits writing pauses exactly while the kernel takes no more bytes for this client.
        transport.set_write_buffer_limits(high=0)
        self._expect_head()
        self._protocol.connection_made(transport)
        if self.record and (received := self.record.continued()):
            self._protocol.data_received(received)

    def data_received(self, data: bytes) -> None:
        self._register.heard(self)
        if self.record:
            self.record.received(data, late=self._handling and self._body is not None and self._body.is_eof())
        self._expect_head()
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._stall.start(self._settings.write_timeout)
        self._register.busy(self)
        self.writable.clear()
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._stall.stop()
        self.writable.set()
        if self._resting or not self._handling:
            self._idle()
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head.stop()
        self._stall.stop()
        self._lost = True
        if self.record:
            self.record.forget_connection()
        self.writable.set()
        self._register.lost(self)
        if not self._given_back:
            if self._transport is not None and (client := self._transport.get_extra_info("socket")):
                end(client)
            self._register.closed(self.number)
        self._protocol.connection_lost(exc)

    # -- called around the handlers of its requests

    def began(self, request: web.Request | None = None, *, repeatable: bool = False) -> None:
        """Note that a request's head is whole and its handler begins; `repeatable`: it may be handled again after this
        front was killed. `request` is None unless the client speaks HTTP."""
        self._body = request.content if request is not None else None
        if self.record:
            self.record.began(request_id.current.get(), repeatable=repeatable)
        self._handling = True
        self._answering = False
        self._head.stop()
        self._register.busy(self)

    def take_since(self) -> float | None:
        """Monotonic seconds at which the connection came, for its first request; None for later ones."""
        since, self._since = self._since, 0.0
        return since or None

    def answers(self) -> None:
        """Note that the request's response has begun."""
        self._answering = True
        if self.record:
            self.record.answers()

    def cancelled(self) -> None:
        """Note that the handler was cancelled: by the client's end, or because the server stops (a drain's end)."""
        if self._answering:
            self._overdue("drain")

    def ended(self) -> None:
        """Note that the handler has returned or written its response."""
        self._handling = self._resting = False
        self._idle()

    def rests(self) -> None:
        """Note that the handler waits for its client, who would lose nothing: on its WebSocket, nothing is spoken."""
        self._resting = True
        self._idle()

    def works(self) -> None:
        """Note that the handler rests no more."""
        self._resting = False
        self._register.busy(self)

    @property
    def silent(self) -> bool:
        """True if the system has nothing to be read from the client, not even its end."""
        assert self._transport is not None
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return not poll.poll(0)

    def break_off(self) -> None:
        """Close the connection in the middle of an answer that a killed front has begun and none can continue."""
        self._overdue("takeover")
        self.close()

    def give_back(self) -> None:
        """Let go of the connection without an end, so that another front can serve it: nothing was read of it."""
        self._given_back = True
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Close the connection in order: written data is still sent."""
        if self._transport is not None:
            self._transport.close()

    def _expect_head(self) -> None:
        """Bytes have come: unless they are a handler's, a head begins. A head that has begun goes on."""
        if not (self._handling or self._head.running):
            self._head.start(self._settings.header_timeout)
            self._idle()

    def _idle(self) -> None:
        if self.writable.is_set() and self._transport is not None and not self._transport.is_closing():
            self._register.idle(self)

    def _overdue(self, reason: str) -> None:
        if not self._lost:
            self._register.overdue(reason)

    def _head_overdue(self) -> None:
        self._overdue("header_timeout")
        self.close()

    def _stalled(self) -> None:
        log.warning("a client has read nothing for %g s: its connection is cut", self._settings.write_timeout)
        self._overdue("write_timeout")
        if self._transport is not None:
            self._transport.abort()


class Connections:
    """The register of connections. `make_protocol` is aiohttp's `Server`."""

    def __init__(
        self,
        make_protocol: Callable[[], asyncio.Protocol],
        settings: FrontSettings,
        limit: int,
        metrics: Metrics,
    ) -> None:
        self.limit = limit
        self._make_protocol = make_protocol
        self._settings = settings
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self.suspects = asyncio.Lock()
        """Held while an answer is continued that fronts may have died of: one at a time shows which one it is."""
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, float] = {}
        """Connections that wait for their client, with the time since when; the longest-waiting first."""
        self.closed: Callable[[int], None] = lambda number: None
        """Called with the number of each connection that has ended."""
        self._unheard: dict[Connection, None] = {}
        """Connections of which no byte has been read; the oldest first."""
        self.by_tls: TlsClients | None = None
        """The addresses of clients that come by TLS; None if none does."""

    def __len__(self) -> int:
        return len(self._open)

    def show_client(self, transport: asyncio.BaseTransport) -> None:
        """Give the transport of a client that comes by TLS the client's addresses, in place of those of the process
        between: keys, hosts and rates are judged by them (`access`)."""
        if self.by_tls is None:
            return
        ends = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        if found := self.by_tls.find(*ends):
            peer, reached = found
            transport._extra.update(peername=(peer, 0), sockname=(reached, 0))  # type: ignore[attr-defined]

    def admit(
        self, make_protocol: Callable[[], asyncio.Protocol] | None = None, record: Record | None = None
    ) -> Connection | None:
        """A newcomer's protocol, with `make_protocol`'s behind it unless it speaks HTTP; None: close it at once."""
        over_limit = len(self._open) >= self.limit and not self.make_room()
        if over_limit and len(self._open) >= self.limit + OVER_LIMIT:
            self._metrics.connection_closed("refused")
            return None
        connection = Connection((make_protocol or self._make_protocol)(), self._settings, self, over_limit, record)
        self._open.add(connection)
        self._unheard[connection] = None
        return connection

    def make_room(self) -> bool:
        """Close the connection that has waited longest for its client; returns False if none has waited for `SETTLED`,
        and each of the others has sent something.

        A crowd that connects and says nothing would otherwise keep everybody out for as long: its connections are
        closed at once for those who ask for something.
        """
        longest, since = next(iter(self._waiting.items()), (None, 0.0))
        if longest is None or self._loop.time() - since < SETTLED:
            unheard = tuple(islice(self._unheard, _LOOKED_AT))
            longest = next(filter(self._says_nothing, unheard), None)
        if longest is None:
            return False
        self._metrics.connection_closed("room")
        self.lost(longest)
        longest.close()
        return True

    def _says_nothing(self, connection: Connection) -> bool:
        """True if the connection waits for its client, who has sent nothing, not even what is still to be read."""
        if connection not in self._waiting:
            return False
        if not (silent := connection.silent):
            self.heard(connection)
        return silent

    @property
    def unheard(self) -> tuple[Connection, ...]:
        """The connections of which no byte has been read."""
        return tuple(self._unheard)

    def heard(self, connection: Connection) -> None:
        """Note that the client has sent something."""
        self._unheard.pop(connection, None)

    def idle(self, connection: Connection) -> None:
        """Note that the connection waits for its client: for a request, or for the rest of a request's head."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = self._loop.time()

    def busy(self, connection: Connection) -> None:
        """Note that a request is being answered, or that part of its answer isn't sent yet."""
        self._waiting.pop(connection, None)

    def overdue(self, reason: str) -> None:
        """Note that a connection was closed before its time: for being too slow, or because the server stops."""
        self._metrics.connection_closed(reason)
        # Each of these is in the middle of a response, at least a part of which was taken.
        if reason in ("write_timeout", "drain", "takeover"):
            self._metrics.count(Event.CUT)

    def lost(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._unheard.pop(connection, None)
        self._open.discard(connection)


def end(client: socket.socket | TransportSocket) -> None:
    """Send the end of a connection at once. The supervisor has a duplicate of it, so that closing this one sends
    nothing; one that is to end with a reset ends when the supervisor closes the last."""
    with contextlib.suppress(OSError):  # the client has left
        reset, _ = struct.unpack("ii", client.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))
        if not reset:
            client.shutdown(socket.SHUT_RDWR)


def connection_of(request: web.Request) -> Connection | None:
    """The request's connection; None if it is closed, or the server was started without guards."""
    protocol = request.transport.get_protocol() if request.transport is not None else None
    return protocol if isinstance(protocol, Connection) else None


def record_of(request: web.Request) -> Record | None:
    """The record of the request's connection; None: its answer can't be continued."""
    return connection.record if (connection := connection_of(request)) else None


class ClientLeft(asyncio.CancelledError):
    """A read or a write noticed the client's end before aiohttp could cancel the handler: the same event, the same end.

    The connection doesn't know of its loss yet, and would take a plain cancellation for the end of a drain.
    """


class InterruptibleWait:
    """The wait for a client's next message, one at a time. `end` ends the present one alone: its caller looks first
    whether it is to wait at all."""

    def __init__(self) -> None:
        self._timeout: asyncio.Timeout | None = None

    async def of(self, message: Awaitable[Message], seconds: float) -> Message:
        """Wait for a message.

        Raises:
            TimeoutError: it hasn't come within that time, or `end` was called.
        """
        try:
            async with asyncio.timeout(seconds) as self._timeout:
                return await message
        finally:
            self._timeout = None

    def end(self) -> None:
        """End the wait, if there is one, as if its time were over."""
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())
