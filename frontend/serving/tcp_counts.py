"""What the kernel counts of a TCP connection, whoever has read and written: docs/decisions/place-of-an-answer.md."""

from __future__ import annotations

import fcntl
import socket
import struct
import sys
import termios
from contextlib import suppress

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
