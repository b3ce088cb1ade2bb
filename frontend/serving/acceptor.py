"""Takes connections off the supervisor's listening socket, as many as there are descriptors for.

`loop.create_server` calls `listen` again, which shortens the backlog in which clients wait while a front is being
restarted; and if `accept` finds no free descriptor, CPython 3.11 logs a traceback for each place in the backlog, every
second. Hence this acceptor.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections.abc import Callable

import psutil

from frontend.serving.connections import Connection, Connections

AT_ONCE = 8
"""Connections accepted before the event loop serves the present ones."""

RETRY = 1.0
"""Seconds after which accepting is tried again if the system had no room."""

KEPT = 48
"""Descriptors that connections leave free.

16 for channels to workers: four generations, each with two pipes, an arena and its mapping's own; 16 for those that
are refused, or are accepted while another is being closed for them; 16 for what text processing opens when it is first
needed.
"""

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


def room_for(wanted: int) -> int:
    """The wanted number of connections, or fewer if the limit on open files leaves no room for them (RLIMIT_NOFILE,
    `ulimit -n`). Raises the soft limit as far as the hard one allows.

    Under a limit that leaves less than `KEPT`, connections get a quarter of what is free, and at least one: a server
    that serves a few clients badly is better than one that doesn't start.
    """
    used: int = psutil.Process().num_fds()
    kept = used + KEPT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = _raised(soft, hard, kept + wanted)
    if soft == resource.RLIM_INFINITY or soft >= kept + wanted:
        return wanted
    room = max(soft - kept, min(wanted, (soft - used) // 4), 1)
    log.warning("%d open files are allowed: %d connections instead of %d (see ulimit -n)", soft, room, wanted)
    return room


def _raised(soft: int, hard: int, needed: int) -> int:
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return soft
    target = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    except (OSError, ValueError) as error:  # macOS has a lower limit of its own behind an unlimited one
        log.warning("the limit on open files stays at %d: %s", soft, error)
        return soft
    return target
