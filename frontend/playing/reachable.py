"""The address at which processes of this machine reach the server."""

from __future__ import annotations

import socket

from shm.listeners import own_address


def reachable(listener: socket.socket) -> str:
    """The URL of the server that accepts connections from this socket."""
    host, port, *_ = own_address(listener)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
