"""The Wyoming port of one front: its connections with their limits, and one client's conversation.

Source: https://github.com/OHF-Voice/wyoming
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.events import Spoken
from frontend.contexts.journal import SocketJournal, SocketPlace
from frontend.contract.errors import ApiError, SpeechError, Unavailable
from frontend.contract.speaker import engine_in_use
from frontend.dialects.wyoming.events import (
    MAX_LINE_BYTES,
    EventBytes,
    TextFields,
    asked_by,
    info,
    read_line,
    read_rest,
    text_fields,
)
from frontend.monitoring.metrics import Event as Counted
from frontend.serving.connections import Connection, InterruptibleWait
from frontend.serving.errors import note_late_failure
from frontend.serving.sending import bound_transport
from frontend.serving.services import Services
from shm import request_id
from shm.audio import SAMPLE_BYTES
from shm.decoding import json_decoder
from text.errors import TextError

if TYPE_CHECKING:
    from frontend.dialects.wyoming.announcement import Announcement

MAX_CONVERSATIONS = 100
"""Connections at the same time. A Wyoming connection is never closed for another one, so that without this limit idle
clients would take all of `--max-connections`."""

REFUSED_AT_ONCE = 8
"""Connections beyond the limit that are told so rather than closed at once."""

FULL = "Too many connections are open already: try again in a moment."

IDLE_SECONDS = 300.0
"""Seconds without an event, while nothing is spoken, after which the connection is closed. Home Assistant's language
model may use tools between two pieces of a text."""

GOODBYE_SECONDS = 5.0
"""Seconds for a client to read an error and close. Its unread events would otherwise reset the connection, and lose
the error."""


log = logging.getLogger(__name__)

_decode_fields = json_decoder(TextFields)


_OPENING = ("synthesize", "synthesize-start")
"""Events that begin a text."""


class WyomingService:
    """Serves the connections that are made with its `protocol`, until `stop`."""

    def __init__(self, listener: socket.socket, services: Services, progressed: Callable[[], None]) -> None:
        """
        Args:
            listener: the port's socket, whose address is announced.
            progressed: called when a client is sent an event.
        """
        self._services = services
        self._progressed = progressed
        self._conversations: dict[asyncio.Task[None], Conversation] = {}
        self._announcement = _announced(listener) if services.settings.wyoming_zeroconf else None
        self._announcing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Announce the port."""
        if self._announcement is not None:
            self._announcing = asyncio.create_task(self._announcement.start())

    async def stop(self, seconds: float, *, replaced: bool) -> None:
        """Have each open connection's text spoken, and cut those that last longer than `seconds`. No connection may
        follow.

        Args:
            replaced: another front accepts connections now, so the port stays announced.
        """
        for conversation in self._conversations.values():
            conversation.finish()
        if self._conversations:
            _, late = await asyncio.wait(self._conversations, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if self._announcement is not None and self._announcing is not None and not replaced:
            await self._announcing
            await self._announcement.withdraw()

    def protocol(self) -> asyncio.Protocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(MAX_LINE_BYTES), self._connected)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.transport.get_protocol()
        assert isinstance(connection, Connection)
        if record := connection.record:
            record.opens(head=0)
        request_id.current.set((record.replayed_id if record else None) or request_id.choose(None))
        connection.began(repeatable=True)
        if len(self._conversations) >= MAX_CONVERSATIONS + REFUSED_AT_ONCE:
            writer.close()
            return
        full = connection.over_limit or len(self._conversations) >= MAX_CONVERSATIONS
        conversation = Conversation(self._services, reader, writer, self._progressed)
        task = asyncio.create_task(conversation.refuse(FULL) if full else conversation.serve())
        self._conversations[task] = conversation
        task.add_done_callback(self._conversations.pop)


def _announced(listener: socket.socket) -> Announcement:
    from frontend.dialects.wyoming.announcement import Announcement  # an extra brings zeroconf

    return Announcement(listener)


class Conversation:
    """One Wyoming connection. `serve` runs until it is closed."""

    def __init__(
        self,
        services: Services,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        progressed: Callable[[], None],
    ) -> None:
        """`progressed` is called when an event is sent."""
        self._services = services
        self._progressed = progressed
        self._reader = reader
        self._writer = writer
        connection = writer.transport.get_protocol()
        assert isinstance(connection, Connection)
        self._connection = connection
        self._record = connection.record
        self._journal = SocketJournal(self._record)
        self._journal.describe = self._place
        self._followed = 0
        """Bytes of the client's events that were followed."""
        self._spoken: Context | None = None
        """The context that is being spoken."""
        self._began = False
        """Its audio's start was told."""
        self._text: Context | None = None
        """The context between a synthesize-start and its synthesize-stop."""
        self._speech: asyncio.Task[None] | None = None
        self._waiting = InterruptibleWait()
        self._ending = False

    async def serve(self) -> None:
        """Follow events until the client leaves, an event is wrong, or `finish` is called."""
        self._services.callers.note("wyoming", "")
        with self._services.socket("wyoming"):
            try:
                await self._serve()
            except asyncio.CancelledError:  # the drain's end
                self._connection.cancelled()
                raise
            finally:
                self._writer.close()

    async def _serve(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                await self._converse(group)
        except* ConnectionError:
            log.info("%s: the client left", request_id.current.get())
        except* Exception as failures:
            await self._fail(failures.exceptions[0])

    async def refuse(self, reason: str) -> None:
        """Report that there is no room for the connection, and close it."""
        try:
            await self._fail(Unavailable(reason))
        finally:
            self._writer.close()

    def finish(self) -> None:
        """Have the text so far spoken, then close the connection."""
        self._ending = True
        self._waiting.end()

    def _restore(self, group: asyncio.TaskGroup) -> None:
        """Continue the text that a killed front was speaking."""
        left = self._journal.left
        if self._record:
            self._record.goes_on()
        if left is None:
            return
        for streamed, message, _ in self._journal.left_contexts():
            context = self._open(_decode_fields(message.encode()), group, streamed=bool(streamed))
            self._began = bool(left.state[0])
            if streamed and not context.finished:
                self._text = context
            self._services.metrics.count(Counted.CONTINUED)

    def _place(self) -> SocketPlace:
        contexts = [self._spoken.notes.place(0, [])] if self._spoken else []
        return SocketPlace(True, [int(self._began)], None, self._ending, self._spoken is not None, contexts)

    async def _converse(self, group: asyncio.TaskGroup) -> None:
        self._restore(group)
        while line := await self._line():
            settings = self._services.settings
            try:
                async with asyncio.timeout(settings.body_timeout):
                    reading = self._services.bodies.reading
                    event, read = await read_rest(self._reader, line, settings.max_body_bytes, reading)
            except TimeoutError as error:
                reason = f"The rest of an event hasn't come within {settings.body_timeout:g} seconds."
                raise ApiError(408, reason, code="incomplete_event") from error
            if event.type in _OPENING and self._text is None and self._speech is not None:
                await asyncio.wait((self._speech,))  # one text at a time
            answer = self._follow(event, group)
            self._followed += read
            await self._send(*answer, followed=self._followed)
        if self._text is not None:
            if not self._ending:
                reason = "The connection ended before `synthesize-stop`: the rest of the text is missing."
                raise ApiError(400, reason, code="incomplete_text")
            self._text.finish()

    async def _line(self) -> bytes | None:
        """The next event's first line; None if no event follows.

        Raises:
            ApiError: 408, none has come for `IDLE_SECONDS`.
        """
        while not self._ending:
            try:
                return await self._waiting.of(read_line(self._reader), IDLE_SECONDS)
            except TimeoutError as error:
                if not (self._ending or self._speaking):
                    raise ApiError(
                        408, f"No event has come for {IDLE_SECONDS:g} seconds.", code="inactivity"
                    ) from error
        return None

    @property
    def _speaking(self) -> bool:
        return self._speech is not None and not self._speech.done() and (self._text is None or self._text.speaking)

    def _follow(self, event: Event, group: asyncio.TaskGroup) -> list[Eventable]:
        """Act on an event; the events that answer it."""
        match event.type:
            case "describe":
                # While nothing speaks, the answer is an error: one without voices would have Home Assistant drop the
                # service.
                return [info(engine_in_use(self._services.speaker), self._services.settings.wyoming_blends)]
            case "ping":
                return [Pong(text_fields(event).text or "")]
            case "synthesize" if self._text is None:
                fields = text_fields(event)
                context = self._open(fields, group, streamed=False)
                context.write(fields.text or "")
                context.finish()
            case "synthesize":
                log.debug("the whole text of a stream, for servers that take no pieces")
            case "synthesize-start":
                if self._text is not None:
                    raise ApiError(400, "A text is open already: end it with `synthesize-stop`.", code="text_open")
                self._text = self._open(text_fields(event), group, streamed=True)
            case "synthesize-chunk":
                self._opened(event.type).write(text_fields(event).text or "")
            case "synthesize-stop":
                self._opened(event.type).finish()
                self._text = None
            case other:
                log.debug("an event of type %r is ignored", other[:64])
        return []

    def _opened(self, kind: str) -> Context:
        if self._text is None:
            raise ApiError(400, f"`{kind}` needs a `synthesize-start` before it.", code="no_text_open")
        return self._text

    def _open(self, fields: TextFields, group: asyncio.TaskGroup, *, streamed: bool) -> Context:
        """A context for another text. The text before it is spoken."""
        name = request_id.choose(None)
        host, *_ = self._writer.get_extra_info("peername") or ("",)
        client = f"wyoming/{host}/{request_id.current.get()}"
        engine = engine_in_use(self._services.speaker)
        asked = asked_by(fields, engine, self._services.settings, request_id=name, client=client)
        output = OutputFormat(sample_rate=engine.sample_rate)
        self._journal.message = msgspec.json.encode(msgspec.structs.replace(fields, text=None)).decode()
        notes = self._journal.opened("streamed" if streamed else "")
        context = self._spoken = Context(self._services, asked, output, whole=not streamed, notes=notes)
        self._began = False
        bound_transport(self._writer.transport, self._services.speaker.ring_seconds * output.bytes_per_second)
        self._speech = group.create_task(self._speak(context, streamed))
        # A task that is cancelled before its first step runs none of its own `finally`.
        self._speech.add_done_callback(lambda _: context.drop())
        return context

    async def _speak(self, context: Context, streamed: bool) -> None:
        """Send a context's audio.

        Raises:
            ApiError, SpeechError: it can't be spoken, or not to its end.
            ConnectionError: the client left.
        """
        seconds = 0.0
        form = {"rate": context.output.sample_rate, "width": SAMPLE_BYTES, "channels": 1}
        self._connection.began()
        start: list[Eventable] = [AudioStart(**form)]
        try:
            async with aclosing(context.__aiter__()) as events:
                async for event in events:
                    if isinstance(event, Spoken) and event.audio:
                        begun, self._began = self._began, True
                        self._connection.answers()
                        await self._send(*([] if begun else start), AudioChunk(**form, audio=event.audio))
                        seconds = event.seconds
        except (TextError, SpeechError):
            if self._began:
                self._services.metrics.count(Counted.CUT)
            raise
        self._spoken = None
        self._journal.dropped(context.notes)
        last: list[Eventable] = [AudioStop(), SynthesizeStopped()] if streamed else [AudioStop()]
        await self._send(*([] if self._began else start), *last)
        log.info("wyoming: %.1f s of speech %s", seconds, context.asked.request_id)

    async def _send(self, *events: Eventable, followed: int | None = None) -> None:
        """Send events at once; waits while the client reads too slowly.

        Args:
            followed: bytes of the client's events up to the end of the one that was followed.

        Raises:
            ConnectionError: the client left.
        """
        written = EventBytes()
        for event in events:
            await async_write_event(event.event(), written)  # type: ignore[arg-type]
        with self._journal.unit(followed):
            if events:
                self._writer.write(bytes(written.bytes))
        if events:
            await self._writer.drain()
            self._progressed()

    async def _fail(self, error: BaseException) -> None:
        """Report an error and have the client close. Home Assistant waits for its audio until the connection ends."""
        assert isinstance(error, Exception)
        detail = note_late_failure(self._services.metrics, error, "wyoming").detail
        if self._record:
            self._record.ends()
        try:
            await self._send(Error(detail.message, detail.code))
            self._writer.write_eof()
            async with asyncio.timeout(GOODBYE_SECONDS):
                while await self._reader.read(64 * 1024):
                    pass
        except TimeoutError:
            log.info("%s: the client didn't close", request_id.current.get())
        except (ConnectionError, OSError):
            log.info("%s: the client left before it heard so", request_id.current.get())
