"""Sending to a client: a bound on bytes that it hasn't read, and an end that tells if the answer is complete.

The bound on audio that has left for a client that doesn't read it is `--ring-seconds`, in every format. Without a bound
of ours the system lets its send buffer grow to megabytes: a minute of PCM, six minutes of MP3. All of that would have
been made for nothing when the client leaves, and the server would take a paused listener for a fast one.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable

from aiohttp import HttpVersion11, web

from frontend.serving.connections import connection_of

RING_SECONDS: web.AppKey[Callable[[], float]] = web.AppKey("RING_SECONDS")
"""The application's function that gives the seconds of audio by which a stream may be ahead of its listener."""

SHARE = 0.1
"""Share of the ring that the send buffer may hold. The system allows twice the value that it is told, for its own
records, and the client's system holds 64 to 128 kB more, which is 8 to 16 s of MP3 and 1 to 3 s of PCM."""

FRAMED = 4 / 3
"""Bytes of audio in base64, relative to the audio's own."""


def bound_send_buffer(request: web.Request, bytes_per_second: float) -> None:
    """Bound the system's send buffer for this response. `bytes_per_second`: of the audio, as it is sent."""
    seconds = request.app.get(RING_SECONDS)
    if seconds is not None and request.transport is not None:
        bound_transport(request.transport, bytes_per_second * seconds())


def bound_transport(transport: asyncio.BaseTransport, ring: float) -> None:
    """Bound the system's send buffer of a connection. `ring`: bytes of audio in a full ring; 0 leaves it unbounded."""
    if ring:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, round(ring * SHARE))


async def taken(request: web.Request) -> None:
    """Wait until the system has taken all bytes that were written for this client."""
    connection = connection_of(request)
    if connection is not None:
        await connection.writable.wait()


def reset_on_close(request: web.Request, on: bool) -> None:
    """Make the connection end with a reset, whether by an error, a stop, or the death of the process.

    The reset is for HTTP/1.0, which has no chunks: its clients take an orderly end for the end of the audio. It is
    switched off once the audio is whole.
    """
    if request.version < HttpVersion11 and request.transport is not None:
        linger_not_at_all = struct.pack("ii", on, 0)
        sock = request.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)


def cut(request: web.Request) -> None:
    """End the connection before the last chunk: sent data still arrives, and every client can tell that the rest is
    missing."""
    if request.transport is not None:
        request.transport.close()


def left(request: web.Request) -> bool:
    """True once the client has left."""
    return request.transport is None or request.transport.is_closing()
