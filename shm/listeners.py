"""The listening sockets. The supervisor holds them, so that no connection is refused while a front is restarted."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Listeners:
    """One server's listening TCP sockets; each front inherits them."""

    http: socket.socket
    wyoming: socket.socket | None = None
    """None if the server doesn't answer Wyoming's clients."""

    def close(self) -> None:
        self.http.close()
        if self.wyoming is not None:
            self.wyoming.close()


def own_address(listener: socket.socket) -> tuple[Any, ...]:
    """The address at which processes of this machine reach a listening socket: the loopback address if the socket
    accepts connections on all addresses."""
    host, *rest = listener.getsockname()
    return _LOOPBACK.get(host, host), *rest
