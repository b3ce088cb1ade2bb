"""The address at which processes of this machine reach the server."""

from __future__ import annotations

import socket

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def reachable(listener: socket.socket) -> str:
    """The URL of the server that accepts connections from this socket."""
    host, port, *_ = listener.getsockname()
    host = _ANYWHERE.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
