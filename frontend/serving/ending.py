"""The end of a response: an incomplete one never looks complete."""

from __future__ import annotations

import socket
import struct

from aiohttp import HttpVersion11, web


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
