"""All connections of a front: their limit, and the choice of the one to close when it is reached.

Closing a connection that waits for its client costs that client nothing, so when a newcomer finds no room, the
longest-waiting connection is closed for it: idle clients keep nobody out, however many they are. The newcomer itself is
refused only if all connections are being answered or have only just arrived: with 503 by a few connections kept for
that, and once those are taken too, by closing it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from frontend.monitoring.metrics import Event, Metrics
from frontend.serving.connections.connection import Connection
from frontend.settings.front import FrontSettings

SURPLUS = 8
"""Connections beyond the limit that are answered with 503 rather than closed at once."""

SETTLED = 1.0
"""Seconds for which a waiting connection isn't closed for another one: its request may be under way."""


class Connections:
    """The register of connections. `make_protocol` is aiohttp's `Server`."""

    def __init__(
        self,
        make_protocol: Callable[[], asyncio.Protocol],
        settings: FrontSettings,
        limit: int,
        metrics: Metrics,
    ) -> None:
        self.limit = limit
        self._make_protocol = make_protocol
        self._settings = settings
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, float] = {}
        """Connections that wait for their client, with the time since when; the longest-waiting first."""

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, make_protocol: Callable[[], asyncio.Protocol] | None = None) -> Connection | None:
        """A newcomer's protocol; None if the newcomer must be closed at once.

        Args:
            make_protocol: the protocol behind the connection, if the newcomer doesn't speak HTTP.
        """
        surplus = len(self._open) >= self.limit and not self.make_room()
        if surplus and len(self._open) >= self.limit + SURPLUS:
            self._metrics.connection_closed("refused")
            return None
        connection = Connection((make_protocol or self._make_protocol)(), self._settings, self, surplus)
        self._open.add(connection)
        return connection

    def make_room(self) -> bool:
        """Close the connection that has waited longest for its client; returns False if none has waited for
        `SETTLED`."""
        longest, since = next(iter(self._waiting.items()), (None, 0.0))
        if longest is None or self._loop.time() - since < SETTLED:
            return False
        self._metrics.connection_closed("room")
        self.lost(longest)
        longest.close()
        return True

    # -- see `frontend.serving.connections.connection.Register`

    def idle(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = self._loop.time()

    def busy(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)

    def overdue(self, connection: Connection, reason: str) -> None:
        self._metrics.connection_closed(reason)
        if reason in ("write_timeout", "drain"):  # in the middle of a response, at least a part of which was taken
            self._metrics.count(Event.CUT)

    def lost(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._open.discard(connection)
