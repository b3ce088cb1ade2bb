"""All Wyoming connections of a front: their number, and their end when the front drains."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from frontend.contexts.services import Services
from frontend.dialects.wyoming.conversation import Conversation
from frontend.dialects.wyoming.reading import MAX_LINE_BYTES
from frontend.serving.connections.connection import Connection

MAX_CONVERSATIONS = 100
"""Connections at the same time. A Wyoming connection is never closed for another one, so that without this limit idle
clients would take all of `--max-connections`."""

REFUSED_AT_ONCE = 8
"""Connections beyond the limit that are told so rather than closed at once."""

FULL = "Too many connections are open already: try again in a moment."


class WyomingClients:
    """The Wyoming connections of one front. `protocol` makes the protocol of each accepted connection."""

    def __init__(self, services: Services, progressed: Callable[[], None]) -> None:
        """`progressed` is called when a client is sent an event."""
        self._services = services
        self._progressed = progressed
        self._conversations: dict[asyncio.Task[None], Conversation] = {}

    def protocol(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(MAX_LINE_BYTES), self._connected)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.transport.get_protocol()
        assert isinstance(connection, Connection)
        connection.exchange.began()
        if len(self._conversations) >= MAX_CONVERSATIONS + REFUSED_AT_ONCE:
            writer.close()
            return
        full = connection.surplus or len(self._conversations) >= MAX_CONVERSATIONS
        conversation = Conversation(self._services, reader, writer, self._progressed)
        task = asyncio.create_task(conversation.refuse(FULL) if full else conversation.serve())
        self._conversations[task] = conversation
        task.add_done_callback(self._conversations.pop)

    async def drain(self, seconds: float) -> None:
        """Have each connection's text spoken and the connection closed; cut those that last longer."""
        for conversation in self._conversations.values():
            conversation.finish()
        if self._conversations:
            _, cut = await asyncio.wait(self._conversations, timeout=seconds)
            for task in cut:
                task.cancel()
            if cut:
                await asyncio.wait(cut)
