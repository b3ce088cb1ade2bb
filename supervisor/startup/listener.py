"""The listening socket, held by the supervisor, so that no connection is refused while a front is being restarted."""

from __future__ import annotations

import socket
from typing import Any

BACKLOG = 1024
"""Connections that may wait for a front."""


class PortTaken(Exception):
    """The address can't be listened on. The message gives the address, the cause and the remedy."""


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A listening TCP socket; port 0 takes any free one. `flag`: the option that chooses the port.

    Raises:
        PortTaken: another program listens there, or this machine doesn't have the address.
    """
    family, kind, protocol, _, address = resolved(host, port, flag)
    try:
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise _taken(host, port, flag, error) from error
    listener.setblocking(False)
    return listener


def resolved(host: str, port: int, flag: str = "--port") -> tuple[int, int, int, str, tuple[Any, ...]]:
    """The first address of `getaddrinfo` for a listening socket.

    Raises:
        PortTaken: there is none.
    """
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, ValueError) as error:  # ValueError: a label that is too long, or a NUL
        raise _taken(host, port, flag, error) from error


def _taken(host: str, port: int, flag: str, error: Exception) -> PortTaken:
    reason = getattr(error, "strerror", None) or error
    return PortTaken(
        f"can't listen on {host}:{port}: {reason}. Stop what listens there, or choose another with {flag}."
    )
