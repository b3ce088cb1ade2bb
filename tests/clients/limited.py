"""A server with keys and a limit, and a client that has used its share up."""

import contextlib

from tests.system.server import Server

PER_MINUTE = 20
"""One each three seconds."""


def use_up(server: Server, key: str) -> None:
    """Ask until the key's next request would be too many; what is asked for costs nothing."""
    with contextlib.closing(server.connect()) as connection:
        status = 0
        while status != 429:
            connection.request("POST", "/v1/audio/speech", "{}", {"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            response.read()
            status = response.status
            assert status in (400, 429)
