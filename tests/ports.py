"""Ports for servers that a test starts one after another, or whose own choice it can't learn."""

import random
import socket

_BELOW_EPHEMERAL = range(20_000, 32_000)
"""Ports that the system chooses itself, for connections too, lie above (Linux, macOS)."""


def lasting_port() -> int:
    """A port that is free, and stays so: nobody on this machine gets it by chance."""
    while True:
        port = random.choice(_BELOW_EPHEMERAL)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
