"""Takes connections off the supervisor's listening socket.

`loop.create_server` calls `listen` again, which shortens the backlog in which clients wait while a front is being
restarted; and if `accept` finds no free descriptor, CPython 3.11 logs a traceback for each place in the backlog, every
second. Hence this acceptor.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from frontend.serving.connections.connection import Connection
from frontend.serving.connections.connections import Connections

AT_ONCE = 8
"""Connections accepted before the event loop serves the present ones."""

RETRY = 1.0
"""Seconds after which accepting is tried again if the system had no room."""

log = logging.getLogger(__name__)


class Acceptor:
    """Accepts from `start` to `stop`."""

    def __init__(
        self,
        listener: socket.socket,
        connections: Connections,
        make_protocol: Callable[[], asyncio.Protocol] | None = None,
    ) -> None:
        """`make_protocol`: the protocol of this socket's connections, if it isn't HTTP."""
        self._listener = listener
        self._connections = connections
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()
        self._joining: set[asyncio.Task[None]] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._failing = False

    def start(self) -> None:
        self._listener.setblocking(False)
        self._loop.add_reader(self._listener.fileno(), self._accept)

    async def stop(self) -> None:
        """Stop accepting; accepted connections already have their protocol."""
        self._loop.remove_reader(self._listener.fileno())
        if self._retry is not None:
            self._retry.cancel()
        await asyncio.gather(*self._joining)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause(error)
                return
            if self._failing:
                self._failing = False
                log.info("connections are accepted again")
            client.setblocking(False)
            connection = self._connections.admit(self._make_protocol)
            if connection is None:
                client.close()
                continue
            task = self._loop.create_task(self._join(client, connection))
            self._joining.add(task)
            task.add_done_callback(self._joining.discard)

    async def _join(self, client: socket.socket, connection: Connection) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: connection, client)
        except OSError as error:  # the client left before the connection had a transport
            log.debug("a client left at once: %s", error)
            client.close()
            self._connections.lost(connection)

    def _pause(self, error: OSError) -> None:
        """Pause accepting, because the descriptors are used up, say: the socket would stay readable."""
        if not self._failing:
            self._failing = True
            log.error("can't accept connections, trying again each %g s: %s", RETRY, error.strerror)
        self._connections.make_room()
        self._loop.remove_reader(self._listener.fileno())
        self._retry = self._loop.call_later(RETRY, self.start)
