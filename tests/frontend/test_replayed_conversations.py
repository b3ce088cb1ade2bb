"""A conversation that is cut at any of its events, and replayed from the record, tells its client all, once."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from aiohttp import web

from frontend.dialects.wyoming.service import WyomingService
from frontend.http.app import make_app
from frontend.serving import acceptor
from frontend.serving.connections import Connections
from frontend.serving.record import Record
from frontend.settings.front import FrontSettings
from shm.records import SLOT_BYTES, ConnectionEntry, Slot
from tests import platforms
from tests.frontend.contexts_desk import ContextDesk, speak_all
from tests.frontend.conversations import CONVERSATIONS, Conversation
from tests.frontend.scripted_worker import DEADLINE

pytestmark = platforms.linux_only("no other kernel counts what it has taken")

WITHIN = 0.02
"""Seconds for which a client waits for an answer before it says more."""


class Cut(NamedTuple):
    """A moment at which the front may be killed."""

    memory: bytes
    """The connection's slot, compressed."""
    came: int
    """Bytes of the client's that the front has read."""
    taken: int
    """Bytes of the front's that the kernel has taken."""


class CutSlot(Slot):
    """A slot that remembers what it held after each step, with the bytes of the step taken and not."""

    def __init__(self) -> None:
        self.memory = bytearray(SLOT_BYTES)
        self.moments: list[Cut] = []
        self._came = 0
        super().__init__(self.memory, 0)

    def receive(self, data: bytes) -> None:
        self._came += len(data)
        super().receive(data)

    def commit(self, entry: ConnectionEntry) -> None:
        before = self.entry.sent
        super().commit(entry)
        memory = zlib.compress(bytes(self.memory), 1)
        self.moments += [Cut(memory, self._came, taken) for taken in sorted({before, entry.sent})]


@dataclass
class Fronts:
    """One front, which takes over from itself."""

    connections: Connections
    listener: socket.socket
    wyoming: WyomingService

    def connect(self) -> tuple[socket.socket, socket.socket]:
        """Both ends of a client's connection."""
        client = socket.create_connection(self.listener.getsockname())
        client.setblocking(False)
        return client, self.listener.accept()[0]

    def protocol(self, spoken: Conversation) -> Callable[[], asyncio.Protocol] | None:
        return None if spoken.path else self.wyoming.protocol


@asynccontextmanager
async def fronts() -> AsyncIterator[Fronts]:
    settings = FrontSettings(max_streams=8, chunk_ms=3000, adapt_plans=False, cache_bytes=0)
    desk = ContextDesk(settings)
    worker = desk.worker(1, rings=24)
    speaking = asyncio.create_task(speak_all(worker))
    runner = web.AppRunner(make_app(desk.services), handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    listener = socket.create_server(("127.0.0.1", 0))
    try:
        yield Fronts(
            Connections(runner.server, settings, 100, desk.metrics),
            listener,
            WyomingService(listener, desk.services, lambda: None),
        )
    finally:
        listener.close()
        await runner.cleanup()
        speaking.cancel()
        with suppress(asyncio.CancelledError):
            await speaking
        desk.close()


async def read(client: asyncio.StreamReader, spoken: Conversation, wire: bytes = b"") -> bytes:
    """All that comes until the client was told all."""
    async with asyncio.timeout(DEADLINE):
        while not spoken.told(wire)[1]:
            more = await client.read(1 << 20)
            assert more, f"the connection ended: {wire[-300:]!r}"
            wire += more
    return wire


async def recorded(made: Fronts, spoken: Conversation) -> tuple[bytes, CutSlot]:
    """Bytes that an undisturbed client reads, and the record as it was at each step."""
    slot = CutSlot()
    slot.clear(1)
    client, ours = made.connect()
    ours.setblocking(False)
    connection = made.connections.admit(made.protocol(spoken), Record(slot))
    assert connection is not None
    await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, ours)
    reader, writer = await asyncio.open_connection(sock=client)
    wire = b""
    for message in filter(None, (spoken.opening, *spoken.input)):
        writer.write(message)
        while not (spoken.path and b"\r\n\r\n" not in wire):
            try:
                async with asyncio.timeout(WITHIN):
                    wire += await reader.read(1 << 20)
            except TimeoutError:
                break
        else:
            wire += await reader.readuntil(b"\r\n\r\n")
    wire = await read(reader, spoken, wire)
    moments = list(slot.moments)
    writer.close()
    slot.moments = moments
    return wire, slot


async def replayed(made: Fronts, spoken: Conversation, wire: bytes, cut: Cut) -> bytes:
    """All bytes that the client of a killed front reads."""
    slot = Slot(bytearray(zlib.decompress(cut.memory)), 0)
    client, ours = made.connect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(acceptor, "taken", lambda _: cut.taken)
        connection = await acceptor.take_over(made.connections, slot, ours, made.protocol(spoken))
    assert connection is not None, slot.entry
    reader, writer = await asyncio.open_connection(sock=client)
    writer.write(b"".join((spoken.opening, *spoken.input))[cut.came :])
    try:
        return await read(reader, spoken, wire[: cut.taken])
    finally:
        writer.close()


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*CONVERSATIONS])
async def test_a_conversation_that_is_cut_at_any_event_is_told_whole_and_once(name: str, every: int) -> None:
    spoken = CONVERSATIONS[name]
    async with fronts() as made:
        wire, slot = await recorded(made, spoken)
        once, _ = spoken.told(wire)
        for number, cut in enumerate(slot.moments[1::every]):
            if cut.came < len(spoken.opening):
                continue  # the client sends the rest of its request first
            told, _ = spoken.told(await replayed(made, spoken, wire, cut))
            assert told == once, f"cut {number}: {cut.came} bytes read, {cut.taken} sent"
