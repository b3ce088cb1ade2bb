"""The Wyoming port on a real socket, over a scheduler whose worker speaks every order."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from wyoming.client import AsyncTcpClient
from wyoming.event import Event, Eventable

from frontend.dialects.wyoming.service import WyomingService
from frontend.serving.acceptor import Acceptor
from frontend.serving.connections import Connections
from frontend.settings.front import FrontSettings
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.handover import Port
from shm.listeners import Listeners
from tests.frontend.contexts_desk import ContextDesk
from tests.frontend.handing_over import handed_over
from tests.frontend.scripted_worker import DEADLINE, ENGINE


class Client(AsyncTcpClient):
    async def say(self, event: Eventable) -> None:
        await self.write_event(event.event())

    async def hear(self) -> Event | None:
        """The server's next event; None at the connection's end."""
        async with asyncio.timeout(DEADLINE):
            return await self.read_event()

    async def until(self, kind: str) -> list[Event]:
        """The events up to the first one of that type, that one included."""
        found = []
        while not found or found[-1].type != kind:
            event = await self.hear()
            assert event is not None, [each.type for each in found]
            found.append(event)
        return found

    async def error(self) -> str:
        """The code of the error that ends the connection."""
        code: str = (await self.until("error"))[-1].data["code"]
        assert await self.hear() is None
        return code


def pcm(events: list[Event]) -> Pcm:
    return np.frombuffer(b"".join(each.payload or b"" for each in events if each.type == "audio-chunk"), "<i2")


class House(ContextDesk):
    def __init__(self, settings: FrontSettings) -> None:
        super().__init__(settings)
        self.port = 0
        self.drain_timeout = settings.drain_timeout
        self.progress = 0
        self.service: WyomingService
        self.acceptor: Acceptor

    def progressed(self) -> None:
        self.progress += 1

    async def stop(self) -> None:
        """Drain."""
        await self.acceptor.stop()
        await self.service.stop(self.drain_timeout, replaced=False)

    def client(self) -> Client:
        return Client("127.0.0.1", self.port)


@asynccontextmanager
async def house(
    settings: FrontSettings | None = None,
    *,
    connected: bool = True,
    speaks: bool = True,
    rings: int = 24,
    limit: int = 1000,
    engine: EngineInfo = ENGINE,
) -> AsyncIterator[House]:
    """
    Args:
        connected: there is a worker.
        speaks: it speaks each order as it comes.
        limit: connections that the front has room for.
    """
    desk = House(settings or FrontSettings(max_streams=8))
    if connected:
        (desk.speaker if speaks else desk.worker)(1, rings=rings, engine=engine)
    listener = socket.create_server(("127.0.0.1", 0))
    desk.port = listener.getsockname()[1]
    connections = Connections(_no_http, desk.services.settings, limit, desk.metrics)
    desk.service = WyomingService(listener, desk.services, desk.progressed)
    desk.service.start()
    with handed_over(Listeners(listener)) as given:
        desk.acceptor = Acceptor(given.front(), connections, {Port.HTTP: desk.service.protocol})
        desk.acceptor.start()
        try:
            yield desk
        finally:
            await desk.stop()
            await given.nothing_kept()
    listener.close()
    desk.close()


def _no_http() -> asyncio.Protocol:
    raise AssertionError("this port doesn't speak HTTP")
