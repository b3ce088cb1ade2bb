"""A server that the tests of a file share: a start costs two seconds of processor time, most tests a tenth of that."""

import contextlib
import http.client
from collections.abc import Callable, Iterator
from typing import Any

import psutil

from tests.system.server import Server, awaited, server


class SharedServer:
    """Started when the first test asks for it, and again after a test that has ended it.

    A test's connections end with the test.

    Tests that share one differ in their texts: a death at a text is remembered, so several deaths at the same text
    would make it a suspect. They compare counts with those of before.
    """

    def __init__(self, *arguments: str, prepare: Callable[[Server], None] | None = None, **options: Any) -> None:
        """`prepare` gets each server once it has been started; `options` are those of `Server`."""
        self._arguments = arguments
        self._prepare = prepare
        self._options = options
        self._stack = contextlib.ExitStack()
        self._server: Server | None = None

    def calm(self) -> Server:
        """The server, once all its processes run and it speaks for nobody."""
        if self._server is None or self._server.process.poll() is not None:
            self.close()
            self._server = self._stack.enter_context(server(*self._arguments, **self._options))
            if self._prepare is not None:
                self._prepare(self._server)
        self._server.hang_up()
        started = self._server
        awaited(lambda: (_is_calm(started), started.get("/status")), lambda seen: seen[0])
        return started

    def close(self) -> None:
        self._server = None
        self._stack.close()


@contextlib.contextmanager
def shared(*arguments: str, **options: Any) -> Iterator[SharedServer]:
    """A shared server for the length of a module's tests."""
    house = SharedServer(*arguments, **options)
    try:
        yield house
    finally:
        house.close()


def _is_calm(of: Server) -> bool:
    # A process that was killed a moment ago may still be reported, and a front still have the connection.
    with contextlib.suppress(OSError, http.client.HTTPException, psutil.NoSuchProcess):
        code, status = of.get("/status")
        assert code == 200, status
        serving = [process for process in status["processes"] if process["role"] in ("front", "worker")]
        alive = all(psutil.Process(process["pid"]).cmdline() for process in serving if process["state"] == "running")
        return bool(alive and not status["streams"] and {each["state"] for each in serving} <= {"running", "resting"})
    return False
