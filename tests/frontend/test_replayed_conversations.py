"""A conversation that is cut at any of its events, and replayed from the record, tells its client all, once."""

import asyncio
import base64
import contextlib
import json
import re
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from frontend.audio.encoding import Encoders, Encoding
from frontend.dialects import open_contexts
from frontend.dialects.wyoming.service import WyomingService
from frontend.http.app import make_app
from frontend.serving import acceptor
from frontend.serving.connections import Connections
from frontend.serving.record import DEATHS, Record
from frontend.settings.front import FrontSettings
from shm.records import SLOT_BYTES, ConnectionEntry, Slot
from tests import platforms
from tests.frontend.contexts_desk import ContextDesk
from tests.frontend.conversations import CONVERSATIONS, TEXTS, Conversation
from tests.frontend.killable_fronts import Answer
from tests.frontend.scripted_worker import DEADLINE

pytestmark = platforms.linux_only("no other kernel counts what it has taken")

CLOSE_FRAME = 4
"""Bytes with which a WebSocket is closed: a code."""

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


class CountedSlot(Slot):
    """A slot in a memory of its own, which counts the client's bytes."""

    def __init__(self, memory: bytes = bytes(SLOT_BYTES), came: int = 0) -> None:
        self.memory = bytearray(memory)
        self.came = came
        super().__init__(self.memory, 0)

    def receive(self, data: bytes) -> None:
        self.came += len(data)
        super().receive(data)


class CutSlot(CountedSlot):
    """A slot that remembers what it held after each step, with the bytes of the step taken and not."""

    def __init__(self) -> None:
        self.moments: list[Cut] = []
        super().__init__()

    def commit(self, entry: ConnectionEntry) -> None:
        before = self.entry.sent
        super().commit(entry)
        memory = zlib.compress(bytes(self.memory), 1)
        self.moments += [Cut(memory, self.came, taken) for taken in sorted({before, entry.sent})]


@dataclass(frozen=True)
class Post:
    """A request for speech over HTTP, read as a conversation is."""

    path: str
    fields: dict[str, Any]

    @property
    def opening(self) -> bytes:
        body = json.dumps({"input": " ".join(TEXTS), **self.fields}).encode()
        head = f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    @property
    def input(self) -> list[bytes]:
        return []

    def told(self, wire: bytes) -> tuple[bytes, bool]:
        """The audio, and whether it is whole."""
        try:
            body = Answer(wire).body
        except HTTPException:
            return b"", False
        found = re.findall(rb'"audio": ?"([^"]*)', body)
        return b"".join(map(base64.b64decode, found)) or body, True


Spoken = Conversation | Post
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


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

    def protocol(self, spoken: Spoken) -> Callable[[], asyncio.Protocol] | None:
        return None if spoken.path else self.wyoming.protocol


@pytest.fixture(autouse=True)
def no_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client here answers none, and on a busy machine a conversation may last longer than its server waits for it."""
    monkeypatch.setattr(open_contexts, "PING_SECONDS", None)


@asynccontextmanager
async def fronts(chunk_ms: int = 3000, cache_bytes: int = 0) -> AsyncIterator[Fronts]:
    settings = FrontSettings(max_streams=24, chunk_ms=chunk_ms, adapt_plans=False, cache_bytes=cache_bytes)
    desk = ContextDesk(settings, cache_bytes)
    desk.speaker(rings=24)
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
        desk.close()


async def at_once(client: asyncio.StreamReader) -> bytes:
    """All that comes without a pause."""
    wire = b""
    with contextlib.suppress(TimeoutError):
        while not client.at_eof():
            async with asyncio.timeout(WITHIN):
                wire += await client.read(1 << 20)
    return wire


async def read(client: asyncio.StreamReader, spoken: Spoken, wire: bytes = b"") -> bytes:
    """All that comes until the client was told all."""
    async with asyncio.timeout(DEADLINE):
        while not spoken.told(wire)[1]:
            assert not client.at_eof(), f"the connection ended: {wire[-300:]!r}"
            wire += await at_once(client)
    return wire


async def begun(made: Fronts, spoken: Spoken, slot: Slot) -> Client:
    slot.clear(1)
    client, ours = made.connect()
    ours.setblocking(False)
    connection = made.connections.admit(made.protocol(spoken), Record(slot))
    assert connection is not None
    await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, ours)
    return await asyncio.open_connection(sock=client)


async def taken_over(made: Fronts, spoken: Spoken, slot: Slot, taken: int) -> Client | None:
    """The client of a killed front, which has that many bytes; None if that front had only to close the connection."""
    client, ours = made.connect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(acceptor, "taken", lambda _: taken)
        connection = await acceptor.take_over(made.connections, slot, ours, made.protocol(spoken))
    if connection is None:
        for end in (client, ours):
            end.close()
        return None
    return await asyncio.open_connection(sock=client)


async def recorded(made: Fronts, spoken: Spoken, slot: Slot) -> bytes:
    reader, writer = await begun(made, spoken, slot)
    wire = b""
    for message in filter(None, (spoken.opening, *spoken.input)):
        writer.write(message)
        if spoken.path and b"\r\n\r\n" not in wire:
            wire += await reader.readuntil(b"\r\n\r\n")
        wire += await at_once(reader)
    wire = await read(reader, spoken, wire)
    writer.close()
    return wire


async def replayed(made: Fronts, spoken: Conversation, wire: bytes, cut: Cut) -> bytes:
    """All bytes that the client of a killed front reads."""
    slot = Slot(bytearray(zlib.decompress(cut.memory)), 0)
    following = await taken_over(made, spoken, slot, cut.taken)
    if following is None:
        assert cut.taken - len(wire) in (0, CLOSE_FRAME), "the client was told all; its socket may close after that"
        return wire
    reader, writer = following
    writer.write(b"".join((spoken.opening, *spoken.input))[cut.came :])
    try:
        return await read(reader, spoken, wire[: cut.taken])
    finally:
        writer.close()


@pytest.mark.parametrize("every", [23, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*CONVERSATIONS])
async def test_a_conversation_that_is_cut_at_any_event_is_told_whole_and_once(name: str, every: int) -> None:
    spoken = CONVERSATIONS[name]
    async with fronts() as made:
        slot = CutSlot()
        wire = await recorded(made, spoken, slot)
        once, _ = spoken.told(wire)
        for number, cut in enumerate(list(slot.moments[1::every])):
            if cut.came < len(spoken.opening):
                continue  # the client sends the rest of its request first
            told, _ = spoken.told(await replayed(made, spoken, wire, cut))
            assert told == once, f"cut {number}: {cut.came} bytes read, {cut.taken} sent"


POSTS = {
    "pcm": Post("/v1/audio/speech", {"response_format": "pcm"}),
    "mp3": Post("/v1/audio/speech", {"response_format": "mp3"}),
    "events": Post("/v1/audio/speech", {"response_format": "mp3", "stream_format": "sse"}),
    "whole wav": Post("/v1/audio/speech", {"response_format": "wav", "stream": False}),
    "whole mp3": Post("/v1/audio/speech", {"response_format": "mp3", "stream": False}),
}


@pytest.mark.parametrize("name", [*POSTS])
async def test_an_answer_is_noted_as_whole_before_its_last_byte_leaves(name: str) -> None:
    """Its client may send the next request at once, and that one is to be continued too."""
    async with fronts() as made:
        slot = CutSlot()
        wire = await recorded(made, POSTS[name], slot)
        sent = [cut for cut in slot.moments if cut.taken == len(wire)]
        entries = [Slot(bytearray(zlib.decompress(cut.memory)), 0).entry for cut in sent]
        assert [entry.connection for entry in entries] and all(entry.done or not entry.begun for entry in entries)


@dataclass
class Life:
    """Samples that a front may encode; then it stands still."""

    samples: int = 1 << 30
    encoded: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, encoding: Encoding) -> Encoding:
        encode = encoding.encode

        async def counted(pcm: Any) -> bytes:
            if self.encoded >= self.samples:
                self.over.set()
                await asyncio.Event().wait()
            self.encoded += len(pcm)
            return await encode(pcm)

        encoding.encode = counted  # type: ignore[method-assign]
        return encoding


SOCKETS = ("elevenlabs", "wyoming")


@pytest.mark.parametrize("name", [*POSTS, *SOCKETS])
async def test_what_gets_further_at_each_death_is_never_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sound is cached: what is left is to encode, from the beginning, and each front gets a little further."""
    spoken = POSTS.get(name) or CONVERSATIONS[name]
    said = b"".join((spoken.opening, *spoken.input))
    opened, life = Encoders.open, Life()
    monkeypatch.setattr(Encoders, "open", lambda *given, **more: life.of(opened(*given, **more)))
    async with fronts(chunk_ms=100, cache_bytes=1 << 24) as made, asyncio.timeout(DEADLINE):
        for _ in range(2):
            life = Life()
            once, _ = spoken.told(await recorded(made, spoken, CountedSlot()))
        step, slot, wire = life.encoded // 40, CountedSlot(), b""
        life = Life(step)
        reader, writer = await begun(made, spoken, slot)
        writer.write(said)
        for left in reversed(range(DEATHS + 2)):
            await life.over.wait()
            wire += await reader.readexactly(slot.entry.sent - len(wire))
            slot = CountedSlot(slot.memory, slot.came)
            life = Life(life.encoded + step) if left else Life()
            writer.close()
            following = await taken_over(made, spoken, slot, len(wire))
            assert following is not None, slot.entry
            reader, writer = following
            writer.write(said[slot.came :])
        assert spoken.told(await read(reader, spoken, wire)) == (once, True)
        writer.close()
