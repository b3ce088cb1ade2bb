"""What happens around each request's handler: its connection is told, and its response is written to the end."""

from __future__ import annotations

import asyncio

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from frontend.contract.errors import Unavailable
from frontend.serving.connections import ClientLeft, connection_of, record_of
from frontend.serving.record import CONTINUES
from frontend.serving.route import is_repeatable

_LINGERING = 0.5
"""Seconds for which the rest of a late body is still read and dropped. A connection that is closed with unread bytes is
reset, and the reset can overtake the answer; aiohttp's own ten seconds are for clients that send a long body first."""


@web.middleware
async def write_whole(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Write the end of each response, and a short response whole, so that its record says that it is.

    An error in the middle of an answer, which a front before this one has begun, can only cut it.
    """
    response = await handler(request)
    record = record_of(request)
    if record is None or request.transport is None or request.transport.is_closing():
        return response
    if record.midway and not response.get(CONTINUES):
        if connection := connection_of(request):
            connection.break_off()
        return response
    short = type(response) is web.Response and isinstance(response.body, bytes | None)
    if short or (response.prepared and not isinstance(response, web.WebSocketResponse)) or response.get(CONTINUES):
        await record.finish(request, response)
    return response


@web.middleware
async def attend(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell the connection that it has a request. A surplus connection may read, `/health` say, and not have work done.

    Raises:
        Unavailable: there are too many connections.
    """
    connection = connection_of(request)
    if connection is None:
        return await handler(request)
    connection.began(request, repeatable=is_repeatable(request))
    try:
        if connection.surplus and request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
            raise Unavailable("too many connections are open already")
        return await handler(request)
    except ClientLeft:
        raise
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
