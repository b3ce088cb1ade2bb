"""A health check of the front over HTTP, as a client would make it, without blocking: the loop reports each event."""

from __future__ import annotations

import errno
import logging
import selectors
import socket
from collections.abc import Callable
from typing import Protocol

from shm.listeners import own_address

log = logging.getLogger(__name__)


class Watcher(Protocol):
    """The part of the supervisor's loop that the probe needs."""

    def watch(self, channel: socket.socket, events: int, action: Callable[[], None]) -> None: ...

    def forget(self, channel: socket.socket) -> None: ...


class Probe:
    """Requests `/health` at the server's own address. One request at a time: a new one cancels the previous one."""

    def __init__(self, watcher: Watcher, listener: socket.socket) -> None:
        self._watcher = watcher
        self._family = listener.family
        self._address = own_address(listener)
        self._channel: socket.socket | None = None
        self._answered: Callable[[], None] = lambda: None

    def ask(self, answered: Callable[[], None]) -> None:
        """Call `answered` if the front answers with 200."""
        if self._channel is not None:
            log.warning("the front has not answered /health")
            self._drop()
        self._answered = answered
        self._channel = socket.socket(self._family, socket.SOCK_STREAM)
        self._channel.setblocking(False)
        error = self._channel.connect_ex(self._address)
        if error not in (0, errno.EINPROGRESS):
            self._fail(OSError(error, errno.errorcode.get(error, "")))
            return
        self._watcher.watch(self._channel, selectors.EVENT_WRITE, self._send)

    def _send(self) -> None:
        assert self._channel is not None
        host, port = self._address[:2]
        host = f"[{host}]" if ":" in host else host
        request = f"GET /health HTTP/1.1\r\nHost: {host}:{port}\r\nX-Request-Id: watchdog\r\nConnection: close\r\n\r\n"
        try:
            # A request this short fits whole into a fresh socket's buffer.
            self._channel.send(request.encode())
        except OSError as error:
            self._fail(error)
            return
        self._watcher.forget(self._channel)
        self._watcher.watch(self._channel, selectors.EVENT_READ, self._receive)

    def _receive(self) -> None:
        assert self._channel is not None
        try:
            # The answer's first TCP segment has the status line, which is shorter than any segment size.
            answer = self._channel.recv(4096)
        except OSError as error:
            self._fail(error)
            return
        self._drop()
        if answer.startswith(b"HTTP/1.1 200 "):
            self._answered()
        else:
            log.warning("the front answers /health with %r", answer.partition(b"\r\n")[0])

    def _fail(self, error: OSError) -> None:
        log.warning("the front can't be asked for /health: %s", error)
        self._drop()

    def _drop(self) -> None:
        if self._channel is not None:
            self._watcher.forget(self._channel)
            self._channel.close()
            self._channel = None
