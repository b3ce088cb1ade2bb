"""The listening socket, held by the supervisor, so that no connection is refused while a front is being restarted."""

from __future__ import annotations

import socket

BACKLOG = 1024
"""Connections that may wait for a front."""


class PortTaken(Exception):
    """The address can't be listened on. The message gives the address, the cause and the remedy."""


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A listening TCP socket; port 0 takes any free one. `flag`: the option that chooses the port.

    Raises:
        PortTaken: another program listens there, or this machine doesn't have the address.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise PortTaken(
            f"can't listen on {host}:{port}: {error.strerror or error}. "
            f"Stop what listens there, or choose another with {flag}."
        ) from error
    listener.setblocking(False)
    return listener
