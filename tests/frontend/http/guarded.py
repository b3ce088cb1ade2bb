"""The front's HTTP side as the front itself runs it, on a socket of its own."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from frontend.http.app import make_app
from frontend.monitoring.metrics import Metrics
from frontend.serving.acceptor import Acceptor
from frontend.serving.connections import Connections
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from shm.handover import Handover, Port
from shm.listeners import Listeners
from tests.frontend.handing_over import HandedOver, handed_over, turn
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
ALIVE = b'{"status":"ok"}'
LONG = 1000.0
"""Seconds that no test lasts."""


@dataclass(frozen=True)
class Guarded:
    port: int
    connections: Connections
    metrics: Metrics
    listener: socket.socket
    given: HandedOver
    """The supervisor's side."""
    acceptor: Acceptor

    def take_over(self, channel: Handover) -> None:
        """Take the connections from another channel too, as the next front would."""
        Acceptor(channel, self.connections, {Port.HTTP: None}).start()

    def closed_for(self, reason: str) -> float:
        found = self.metrics.registry.get_sample_value("kokoro_live_connections_closed_total", {"reason": reason})
        return found or 0.0

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@asynccontextmanager
async def guarded(speaker: FakeSpeaker, limit: int = 100, **settings: float) -> AsyncIterator[Guarded]:
    """The front's HTTP side as the front itself runs it, on a socket of its own."""
    patient = dict.fromkeys(("header_timeout", "body_timeout", "keepalive_timeout", "write_timeout"), LONG)
    chosen = FrontSettings(**(patient | settings))  # type: ignore[arg-type]
    metrics = Metrics()
    app = make_app(Services(speaker, chosen, metrics))
    runner = web.AppRunner(
        app,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        shutdown_timeout=0.1,
        keepalive_timeout=chosen.keepalive_timeout,
    )
    await runner.setup()
    assert runner.server is not None
    connections = Connections(runner.server, chosen, limit, metrics)
    with socket.create_server(("127.0.0.1", 0)) as listener, handed_over(Listeners(listener)) as given:
        acceptor = Acceptor(given.front(), connections, {Port.HTTP: None})
        acceptor.start()
        try:
            yield Guarded(listener.getsockname()[1], connections, metrics, listener, given, acceptor)
        finally:
            await acceptor.stop()
            await runner.cleanup()
            await given.nothing_kept()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a response with a Content-Length."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
    first, *lines = head.decode().strip().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    body = await asyncio.wait_for(reader.readexactly(int(headers["Content-Length"])), DEFAULT_TIMEOUT)
    return int(first.split()[1]), headers, body


async def ended(reader: asyncio.StreamReader) -> bytes:
    """The bytes that still come until the server closes."""
    with contextlib.suppress(ConnectionResetError):
        return await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
    return b""


async def until(server: Guarded, count: int) -> None:
    """Wait until so many connections are open."""
    async with asyncio.timeout(DEFAULT_TIMEOUT):
        while len(server.connections) != count:
            await turn()


async def asks_health(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEALTH)
    assert (await answer(reader))[::2] == (200, ALIVE)
