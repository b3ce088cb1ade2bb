"""A service manager's side of sd_notify(3): a real datagram socket, and what came to it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tests.system.server import DEADLINE


class Manager:
    """Hears what it is told, in order."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(DEADLINE)

    def heard(self) -> dict[str, str]:
        """The next notification's fields; waits for it."""
        return dict(line.split("=", 1) for line in self._socket.recv(65536).decode().split("\n"))

    def waits_for(self, name: str) -> list[dict[str, str]]:
        """Everything up to the notification that has that field."""
        got = [self.heard()]
        while name not in got[-1]:
            got.append(self.heard())
        return got

    def all_heard(self) -> list[dict[str, str]]:
        """The messages that have come so far, without waiting."""
        self._socket.settimeout(0)
        got = []
        try:
            while True:
                got.append(self.heard())
        except BlockingIOError:
            return got
        finally:
            self._socket.settimeout(DEADLINE)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def listening_manager(address: str) -> Iterator[Manager]:
    manager = Manager(address)
    try:
        yield manager
    finally:
        manager.close()
