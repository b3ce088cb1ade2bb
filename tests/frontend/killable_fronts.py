"""What the supervisor does for killable fronts: it accepts, keeps the connections, and gives them to the next front."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPResponse
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from shm.memory import sparse
from shm.records import reserve_records
from tests.frontend import killable_front

TIMEOUT = 60.0

TEMPLATE = get_context("forkserver")
"""Its process imports a front's modules once, for a second of a core."""
TEMPLATE.set_forkserver_preload([killable_front.__name__])


class Front:
    def __init__(self, memories: list[int], settings: dict[str, Any], killpoints: Path | None) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = TEMPLATE.Process(target=killable_front.run, args=(theirs, killpoints), daemon=True)
        self._process.start()
        theirs.close()
        self._control = ours
        self._ready = False
        socket.send_fds(ours, [json.dumps(settings).encode()], memories)

    def is_ready(self) -> None:
        if not self._ready:
            assert self._control.recv(16) == b"ready"
            self._ready = True

    def abandon(self) -> None:
        self._control.close()

    def hear(self, closed: Callable[[int], None]) -> None:
        """Hear of the connections that it closed, in a thread, until it ends."""
        with suppress(OSError), self._control:
            while told := self._control.recv(16):
                closed(int(told))

    def give(self, connection: socket.socket, number: int, wyoming: bool, *, inherited: bool) -> None:
        told = {"slot": connection.fileno(), "connection": number, "wyoming": wyoming, "inherited": inherited}
        socket.send_fds(self._control, [json.dumps(told).encode()], [connection.fileno()])

    def dies(self) -> None:
        self._process.join(TIMEOUT)
        assert self._process.exitcode == -signal.SIGKILL

    def kill(self, number: int) -> None:
        if number != signal.SIGKILL and self._process.pid:
            os.kill(self._process.pid, number)
        if number != signal.SIGSEGV:
            self._process.kill()
        self._process.join()


class Fronts:
    def __init__(self, killpoints: Path | None = None, **settings: Any) -> None:
        self._memories = [reserve_records(), sparse("sounds")]
        self._settings, self._killpoints = settings, killpoints
        self._numbers = itertools.count(1)
        self._kept: dict[int, tuple[socket.socket, bool]] = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self._next = self._started()
        self._front = self._promoted()

    def _promoted(self) -> Front:
        front = self._next
        front.is_ready()
        threading.Thread(target=front.hear, args=(self._closed,), daemon=True).start()
        self._next = self._started()
        return front

    def _closed(self, number: int) -> None:
        if kept := self._kept.pop(number, None):
            kept[0].close()

    def _started(self) -> Front:
        return Front(self._memories, self._settings, self._killpoints)

    def accept(self, *, wyoming: bool = False) -> None:
        """Give the next client's connection to the front. `wyoming`: it doesn't speak HTTP."""
        connection, _ = self.listener.accept()
        number = next(self._numbers)
        self._kept[number] = connection, wyoming
        self._front.give(connection, number, wyoming, inherited=False)

    def kill(self, number: int = signal.SIGKILL) -> None:
        self._next.is_ready()
        self._front.kill(number)
        self._replace()

    def outlives(self, again: Path | None = None, passages: int = 1) -> None:
        """Wait for the front's death by a kill point, and give its connections to the next one. `again`: an order that
        is to hold for that one too, at so many passages."""
        self._front.dies()
        if again:
            again.write_text(str(passages))
        self._next.is_ready()
        self._replace()

    def _replace(self) -> None:
        self._front = self._promoted()
        for name, (connection, wyoming) in list(self._kept.items()):
            self._front.give(connection, name, wyoming, inherited=True)

    def close(self) -> None:
        self._front.kill(signal.SIGKILL)
        self._next.is_ready()
        self._next.abandon()
        self._next.kill(signal.SIGKILL)
        for connection in (self.listener, *(kept for kept, _ in self._kept.values())):
            connection.close()
        for memory in self._memories:
            os.close(memory)


@contextmanager
def fronts(killpoints: Path | None = None, **settings: Any) -> Iterator[Fronts]:
    """Fronts of these settings. `killpoints`: the folder of orders (`shm/killpoint.py`)."""
    made = Fronts(killpoints, **settings)
    try:
        yield made
    finally:
        made.close()


class Client(threading.Thread):
    """Sends one request, and reads as much of the answer as it is allowed to."""

    def __init__(self, fronts: Fronts, request: bytes, *, wyoming: bool = False) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(("127.0.0.1", fronts.port))
        fronts.accept(wyoming=wyoming)
        self.heard = bytearray()
        self._allowed, self.news = 0, threading.Condition()
        self._seen = 0
        self.socket.sendall(request)
        self.start()

    def run(self) -> None:
        while True:
            with self.news:
                self.news.wait_for(lambda: self._allowed > len(self.heard))
            try:
                got = self.socket.recv(min(4096, self._allowed - len(self.heard)))
            except OSError:  # also of the socket that the test has closed
                got = b""
            with self.news:
                self.heard += got
                self.news.notify_all()
            if not got:
                return

    def read(self, until: int) -> None:
        """Have it read until it has that many bytes, or the end."""
        with self.news:
            self._allowed = until
            self.news.notify_all()
            assert self.news.wait_for(lambda: len(self.heard) >= until or not self.is_alive(), TIMEOUT)

    def read_to(self, end: bytes) -> None:
        """Have it read until what came since the last call ends so."""
        self.allow()
        with self.news:
            assert self.news.wait_for(lambda: self.heard[self._seen :].endswith(end), TIMEOUT)
            self._seen = self._allowed = len(self.heard)

    def wait(self, whole: Callable[[bytearray], bool]) -> None:
        """Let it read until what came is whole."""
        self.allow()
        with self.news:
            assert self.news.wait_for(lambda: whole(self.heard) or not self.is_alive(), TIMEOUT)
            assert whole(self.heard), f"the connection ended: {bytes(self.heard[-300:])!r}"

    def allow(self) -> None:
        """Let it read whatever comes."""
        with self.news:
            self._allowed = 1 << 40
            self.news.notify_all()

    def read_all(self) -> Answer:
        """Have it read to the end of the connection, or of the answer."""
        self.allow()
        self.join(TIMEOUT)
        assert not self.is_alive(), f"the answer didn't end after {len(self.heard)} bytes"
        self.socket.close()
        return Answer(bytes(self.heard))


class Answer:
    """An answer as it stood on the wire."""

    def __init__(self, wire: bytes) -> None:
        self.wire = wire
        response = HTTPResponse(_Wire(wire))  # type: ignore[arg-type]
        response.begin()
        self.status, self.headers = response.status, dict(response.getheaders())
        self.body = response.read()
        """Raises `IncompleteRead` for an answer that was cut."""


class _Wire:
    def __init__(self, wire: bytes) -> None:
        self._wire = wire

    def makefile(self, _: str) -> BytesIO:
        return BytesIO(self._wire)
