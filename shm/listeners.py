"""The listening sockets. The supervisor holds them, so that no connection is refused while a front is restarted."""

from __future__ import annotations

import socket
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listeners:
    """One server's listening TCP sockets; each front inherits them."""

    http: socket.socket
    wyoming: socket.socket | None = None
    """None if the server doesn't answer Wyoming's clients."""

    def close(self) -> None:
        """Close this process's copies."""
        self.http.close()
        if self.wyoming is not None:
            self.wyoming.close()
