"""One client's connection: aiohttp's protocol behind a guard with time limits, which aiohttp's own protocol lacks."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from frontend.contract.errors import Unavailable
from frontend.settings.front import FrontSettings

log = logging.getLogger(__name__)


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

    * no whole request head has arrived `header_timeout` after it was made, or after a later request's first byte;
    * the client doesn't take written data within `write_timeout`: its stream holds a ring meanwhile.

    `began` and `ended` are called around each request's handler, which starts when a head is whole. A connection
    between two requests is closed by aiohttp's `keepalive_timeout`, a body that doesn't end by its reader.
    """

    def __init__(
        self, protocol: asyncio.Protocol, settings: FrontSettings, register: Register, surplus: bool = False
    ) -> None:
        self.surplus = surplus
        """True if there were too many connections already: the client is told so, or gets one answer, and is
        disconnected."""
        self._protocol = protocol
        self._settings = settings
        self._register = register
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self.writable = asyncio.Event()
        """Set while the system has taken all bytes that were written."""
        self.writable.set()
        self._handling = False
        self._resting = False
        """True while the handler waits for its client."""
        self._answering = False
        """True once the present request's response has begun."""
        self._lost = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # With these limits writing pauses exactly while the kernel takes no more bytes for this client.
        transport.set_write_buffer_limits(high=0)
        self._expect_head()
        self._protocol.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if not self._handling and self._head_timer is None:
            self._expect_head()
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._stall_timer = self._loop.call_later(self._settings.write_timeout, self._stalled)
        self._register.busy(self)
        self.writable.clear()
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._stop_stall_timer()
        if self._resting or not self._handling:
            self._register.idle(self)
        self.writable.set()
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_stall_timer()
        self._lost = True
        self.writable.set()
        self._register.lost(self)
        self._protocol.connection_lost(exc)

    # -- called by the application

    def began(self) -> None:
        """Note that a request's head is whole and its handler begins."""
        self._handling = True
        self._answering = False
        self._stop_head_timer()
        self._register.busy(self)

    def answers(self) -> None:
        """Note that the request's response has begun."""
        self._answering = True

    def cancelled(self) -> None:
        """Note that the handler was cancelled: by the client's end, or because the server stops (a drain's end)."""
        if self._answering and not self._lost:
            self._register.overdue(self, "drain")

    def ended(self) -> None:
        """Note that the handler has returned or written its response."""
        self._handling = self._resting = False
        if self._stall_timer is None and self._transport is not None and not self._transport.is_closing():
            self._register.idle(self)

    def rests(self) -> None:
        """Note that the handler waits for its client, who would lose nothing: on its WebSocket, nothing is spoken."""
        self._resting = True
        if self._stall_timer is None and not self._lost:
            self._register.idle(self)

    def works(self) -> None:
        """Note that the handler rests no more."""
        self._resting = False
        self._register.busy(self)

    def close(self) -> None:
        """Close the connection in order: written data is still sent."""
        if self._transport is not None:
            self._transport.close()

    # -- time

    def _expect_head(self) -> None:
        self._head_timer = self._loop.call_later(self._settings.header_timeout, self._no_head)
        self._register.idle(self)

    def _no_head(self) -> None:
        self._head_timer = None
        self._register.overdue(self, "header_timeout")
        self.close()

    def _stalled(self) -> None:
        self._stall_timer = None
        log.warning("a client has read nothing for %g s: its connection is cut", self._settings.write_timeout)
        self._register.overdue(self, "write_timeout")
        if self._transport is not None:
            self._transport.abort()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None


def connection_of(request: web.Request) -> Connection | None:
    """The request's connection; None if it is closed, or the server was started without guards."""
    protocol = request.transport.get_protocol() if request.transport is not None else None
    return protocol if isinstance(protocol, Connection) else None


@web.middleware
async def attend(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell the connection that it has a request. A surplus connection may read, `/health` say, and not have work done.

    Raises:
        Unavailable: there are too many connections.
    """
    connection = connection_of(request)
    if connection is None:
        return await handler(request)
    connection.began()
    try:
        if connection.surplus and request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
            raise Unavailable("too many connections are open already")
        return await handler(request)
    except asyncio.CancelledError:
        connection.cancelled()
        raise
    finally:
        connection.ended()


async def announce_end(request: web.Request, response: web.StreamResponse) -> None:
    """Announce in the header that the connection ends with this response: a surplus one, or one with an unfinished
    body."""
    connection = connection_of(request)
    if connection is not None:
        connection.answers()
    if response.status == web.HTTPRequestTimeout.status_code or (connection is not None and connection.surplus):
        response.force_close()
        response.headers[hdrs.CONNECTION] = "close"
