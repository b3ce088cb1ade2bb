"""One client's connection: aiohttp's protocol behind a guard with time limits, which aiohttp's own protocol lacks."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from frontend.contract.countdown import Countdown
from frontend.contract.errors import Unavailable
from frontend.serving.connections.exchange import Exchange
from frontend.settings.front import FrontSettings

log = logging.getLogger(__name__)

_LINGERING = 0.5
"""Seconds for which the rest of a late body is still read and dropped. A connection that is closed with unread bytes is
reset, and the reset can overtake the answer; aiohttp's own ten seconds are for clients that send a long body first."""


class Register(Protocol):
    """The interface to which a connection reports its changes."""

    def idle(self, connection: Connection) -> None:
        """Note that the connection waits for its client: for a request, or for the rest of a request's head."""
        ...

    def busy(self, connection: Connection) -> None:
        """Note that a request is being answered, or that part of its answer isn't sent yet."""
        ...

    def overdue(self, connection: Connection, reason: str) -> None:
        """Note that the connection was closed before its time: for being too slow, or because the server stops."""
        ...

    def lost(self, connection: Connection) -> None:
        """Note that the connection is closed."""
        ...


class Connection(asyncio.Protocol):
    """Passes all events on to `protocol`, and closes the connection if

    * no whole request head has arrived in time (`Exchange`);
    * the client doesn't take written data within `write_timeout`: its stream holds a ring meanwhile.

    A connection between two requests is closed by aiohttp's `keepalive_timeout`, a body that doesn't end by its reader.
    """

    def __init__(
        self, protocol: asyncio.Protocol, settings: FrontSettings, register: Register, surplus: bool = False
    ) -> None:
        self.surplus = surplus
        """True if there were too many connections already: the client is told so, or gets one answer, and is
        disconnected."""
        self.exchange = Exchange(self, settings.header_timeout)
        self.writable = asyncio.Event()
        """Set while the system has taken all bytes that were written."""
        self.writable.set()
        self._protocol = protocol
        self._write_timeout = settings.write_timeout
        self._register = register
        self._transport: asyncio.Transport | None = None
        self._stall = Countdown(self._stalled)
        self._lost = False

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # With these limits writing pauses exactly while the kernel takes no more bytes for this client.
        transport.set_write_buffer_limits(high=0)
        self.exchange.expects()
        self._protocol.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.exchange.expects()
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._stall.start(self._write_timeout)
        self.busy()
        self.writable.clear()
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._stall.stop()
        self.writable.set()
        if self.exchange.waits:
            self.idle()
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self.exchange.close()
        self._stall.stop()
        self._lost = True
        self.writable.set()
        self._register.lost(self)
        self._protocol.connection_lost(exc)

    # -- see `frontend.serving.connections.exchange.Peer`

    def idle(self) -> None:
        if self.writable.is_set() and self._transport is not None and not self._transport.is_closing():
            self._register.idle(self)

    def busy(self) -> None:
        self._register.busy(self)

    def overdue(self, reason: str) -> None:
        if not self._lost:
            self._register.overdue(self, reason)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _stalled(self) -> None:
        log.warning("a client has read nothing for %g s: its connection is cut", self._write_timeout)
        self.overdue("write_timeout")
        if self._transport is not None:
            self._transport.abort()


def connection_of(request: web.Request) -> Connection | None:
    """The request's connection; None if it is closed, or the server was started without guards."""
    protocol = request.transport.get_protocol() if request.transport is not None else None
    return protocol if isinstance(protocol, Connection) else None


class ClientLeft(asyncio.CancelledError):
    """A write noticed the client's end before aiohttp could cancel the handler: the same event, so the same end.

    The connection doesn't know of its loss yet, and would take a plain cancellation for the end of a drain.
    """


@web.middleware
async def attend(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell the connection that it has a request. A surplus connection may read, `/health` say, and not have work done.

    Raises:
        Unavailable: there are too many connections.
    """
    connection = connection_of(request)
    if connection is None:
        return await handler(request)
    connection.exchange.began()
    try:
        if connection.surplus and request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
            raise Unavailable("too many connections are open already")
        return await handler(request)
    except ClientLeft:
        raise
    except asyncio.CancelledError:
        connection.exchange.cancelled()
        raise
    finally:
        connection.exchange.ended()


async def announce_end(request: web.Request, response: web.StreamResponse) -> None:
    """Announce in the header that the connection ends with this response: a surplus one, or one with an unfinished
    body."""
    connection = connection_of(request)
    if connection is not None:
        connection.exchange.answers()
    late = response.status == web.HTTPRequestTimeout.status_code
    if late or (connection is not None and connection.surplus):
        response.force_close()
        response.headers[hdrs.CONNECTION] = "close"
    if late:
        asyncio.get_running_loop().call_later(_LINGERING, _stop_reading, request)


def _stop_reading(request: web.Request) -> None:
    """End the request's body, so that aiohttp closes the connection."""
    if isinstance(request.transport, asyncio.Transport) and not request.content.is_eof():
        request.transport.pause_reading()
        request.content.feed_eof()
