"""The Wyoming port of one front: accepted connections, their drain, and the port's announcement."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from frontend.contexts.services import Services
from frontend.dialects.wyoming.clients import WyomingClients
from frontend.serving.connections.acceptor import Acceptor
from frontend.serving.connections.connections import Connections

if TYPE_CHECKING:
    from frontend.dialects.wyoming.announcement import Announcement


class WyomingService:
    """Serves from `start` to `stop`."""

    def __init__(
        self, listener: socket.socket, connections: Connections, services: Services, progressed: Callable[[], None]
    ) -> None:
        """
        Args:
            connections: the register that all connections of the front share.
            progressed: called when a client is sent an event.
        """
        self._settings = services.settings
        self._clients = WyomingClients(services, progressed)
        self._acceptor = Acceptor(listener, connections, self._clients.protocol)
        self._announcement = self._announced(listener) if self._settings.wyoming_zeroconf else None
        self._announcing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Accept connections, and announce the port."""
        self._acceptor.start()
        if self._announcement is not None:
            self._announcing = asyncio.create_task(self._announcement.start())

    async def stop(self, *, replaced: bool) -> None:
        """Accept no more connections, and end the open ones within `--drain-timeout`.

        Args:
            replaced: another front accepts connections now, so the port stays announced.
        """
        await self._acceptor.stop()
        await self._clients.drain(self._settings.drain_timeout)
        if self._announcement is not None and self._announcing is not None and not replaced:
            await self._announcing
            await self._announcement.withdraw()

    def _announced(self, listener: socket.socket) -> Announcement:
        from frontend.dialects.wyoming.announcement import Announcement  # an extra brings zeroconf

        return Announcement(listener)
