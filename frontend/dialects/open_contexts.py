"""A WebSocket of JSON messages, and its contexts: their number, their names, and the task that listens to each.

It explains itself before it ends, and its record outlives this front.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, ItemsView, Iterable
from contextlib import nullcontext, suppress
from typing import Any

import msgspec
from aiohttp import WSCloseCode, hdrs, web

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.journal import SOCKET, SocketJournal
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.serving.connections import connection_of
from frontend.serving.record import Record
from frontend.serving.sending import FRAMED, bound_send_buffer
from frontend.serving.services import Services
from shm import request_id

log = logging.getLogger(__name__)

_NEVER_WAITS = 1 << 40
"""Bytes after which aiohttp waits for a slow client in the middle of a step. Here the step's end does."""

_USUAL_LIMIT = 1 << 16
"""Such bytes where nothing is recorded."""

MAX_MESSAGE_BYTES = 64 * 1024

PING_SECONDS = 20.0
"""Seconds between pings. A client that answers none within half that time is gone."""

GOODBYE_SECONDS = 5.0
"""Seconds for a client to answer the server's close frame."""

REASON_BYTES = 120
"""Room for the reason in a close frame (RFC 6455, section 5.5), about."""

_BROKEN = {
    WSCloseCode.MESSAGE_TOO_BIG: (413, f"A message is longer than {MAX_MESSAGE_BYTES} bytes: split the text."),
    WSCloseCode.INVALID_TEXT: (400, "A message is not UTF-8."),
    WSCloseCode.PROTOCOL_ERROR: (400, "A frame breaks the WebSocket protocol."),
}
"""Status and message for each code with which aiohttp closes a socket."""


class MessageSocket(web.WebSocketResponse):
    """A WebSocket that explains itself before aiohttp closes it for a message that is too long or no UTF-8."""

    def __init__(self, error_message: Callable[[ApiError], dict[str, Any]], record: Record | None) -> None:
        """
        Args:
            error_message: returns the message that reports an error of the socket.
            record: the connection's.
        """
        super().__init__(
            max_msg_size=MAX_MESSAGE_BYTES,
            heartbeat=PING_SECONDS,
            timeout=GOODBYE_SECONDS,
            compress=False,  # a compressor's state couldn't be continued by another front
            writer_limit=_NEVER_WAITS if record else _USUAL_LIMIT,
        )
        self._error_message = error_message
        self._record = record

    async def upgrade(self, request: web.Request, journal: SocketJournal) -> None:
        """Answer the handshake.

        Raises:
            ApiError: 426 or 400, the request doesn't ask for a WebSocket, or not correctly.
        """
        record = self._record
        if record and self.can_prepare(request):
            record.opens()
        try:
            with nullcontext() if journal.left else journal.unit():
                await self.prepare(request)
        except web.HTTPBadRequest as error:
            raise _no_upgrade(request, error.text or error.reason) from error
        if record:
            record.follow_frames()

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if self._record and not self.closed:
            self._record.ends()
        if code in _BROKEN:
            status, reason = _BROKEN[WSCloseCode(code)]
            explanation = self._error_message(ApiError(status, reason, code="invalid_message"))
            try:
                await self.send_str(msgspec.json.encode(explanation).decode())
            except ConnectionError:
                log.info("%s: the client left before it heard why", request_id.current.get())
        return await super().close(code=code, message=message, drain=drain)

    async def say_goodbye(self, code: WSCloseCode, reason: str) -> None:
        """Close the socket with as much of the reason as a close frame has room for."""
        await self.close(code=code, message=reason.encode()[:REASON_BYTES].decode(errors="ignore").encode())


def _no_upgrade(request: web.Request, reason: str) -> ApiError:
    """The error for a handshake that aiohttp has rejected."""
    if request.headers.get(hdrs.UPGRADE, "").strip().lower() == "websocket":
        return ApiError(400, f"The WebSocket's handshake is wrong: {reason}.", code="invalid_handshake")
    message = "This address is a WebSocket's: ask with `Connection: Upgrade` and `Upgrade: websocket`."
    headers: dict[str, str] = {hdrs.UPGRADE: "websocket", hdrs.CONNECTION: "Upgrade"}
    return ApiError(426, message, code="upgrade_required", headers=headers)


MAX_CONTEXTS = 20
"""Contexts of one socket. ElevenLabs allows 5, and clients that are interrupted in quick succession need more."""

REMEMBERED = 100
"""Closed contexts of a socket whose names are remembered, so that text for them is an error."""


class OpenContexts:
    """Open contexts by name. The socket's connection waits for its client while there are none."""

    def __init__(
        self,
        request: web.Request,
        services: Services,
        journal: SocketJournal,
        listen: Callable[[str, Context], Coroutine[Any, Any, None]],
        ended: Callable[[], None],
    ) -> None:
        """
        Args:
            listen: function that iterates over a context in a task of its own, and drops the context at its end.
            ended: called when such a task has ended.
        """
        self.closing = False
        """True once no more contexts are opened."""
        self._request = request
        self._services = services
        self._journal = journal
        self._listen = listen
        self._ended = ended
        self._open: dict[str, Context] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._gone: deque[str] = deque(maxlen=REMEMBERED)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def speaking(self) -> bool:
        return any(context.speaking for context in self._open.values())

    @property
    def over(self) -> bool:
        """True once no more contexts are opened, and all events of the others were sent."""
        return self.closing and not self._tasks

    def get(self, key: str) -> Context | None:
        return self._open.get(key)

    def open(self, key: str, asked: SpeechRequest, output: OutputFormat, patience: float | None = None) -> Context:
        """Open a context, and listen to it. Arguments are those of `Context`.

        Raises:
            ApiError: 400, the name was used by a context that has ended, or the socket is closing; 429, too many.
        """
        if self.closing:
            raise ApiError(400, "The socket is closing: open another one.", code="socket_closing")
        if key in self._gone:
            raise ApiError(400, f"The context {key[:64]!r} has been closed.", code="context_closed")
        if len(self._open) >= MAX_CONTEXTS:
            # Clients that are interrupted in quick succession leave contexts open.
            empty = next((name for name, context in self._open.items() if context.empty), None)
            if empty is not None:
                self.drop(empty)
        if len(self._open) >= MAX_CONTEXTS:
            message = f"{MAX_CONTEXTS} contexts are open on this socket: close one first."
            raise ApiError(429, message, code="too_many_contexts")
        notes = self._journal.opened(key)
        context = self._open[key] = Context(self._services, asked, output, patience=patience, notes=notes)
        self._bound()
        self.note_idleness()
        task = asyncio.create_task(self._listen(key, context))
        self._tasks.add(task)
        task.add_done_callback(self._listened)
        return context

    def drop(self, key: str, *, only: Context | None = None, remember: bool = True) -> bool:
        """Close a context now: its ring is free when this returns, and nothing more of it is sent.

        Args:
            only: the context that is meant; a later one of the same name stays open.
            remember: text for the same name is an error from now on.

        Returns:
            True if the context was open.
        """
        context = self._open.get(key)
        if context is None or (only is not None and only is not context):
            return False
        del self._open[key]
        context.drop()
        self._journal.dropped(context.notes)
        if remember:
            self._journal.note(SOCKET, "gone", key)
            self._gone.append(key)
        self.note_idleness()
        return True

    def restore(self, gone: Iterable[str], *, closing: bool) -> None:
        """Continue after a killed front, once its contexts are open again. `gone`: closed contexts' names."""
        self._gone += gone
        self.closing = closing

    def items(self) -> ItemsView[str, Context]:
        return self._open.items()

    def finish(self) -> None:
        """Have all contexts finish; no more are opened."""
        self.closing = True
        for context in self._open.values():
            with suppress(ApiError):  # the context's events end with it
                context.finish()

    async def drop_all(self) -> None:
        """Drop all contexts, and wait for the ends of their tasks."""
        for key in list(self._open):
            self.drop(key)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def note_idleness(self) -> None:
        """Tell the connection whether it may be closed for another client's: nothing is spoken on it."""
        if connection := connection_of(self._request):
            (connection.works if self._open else connection.rests)()

    def _bound(self) -> None:
        """Bound the audio that has left for a client that doesn't read: the open contexts share the send buffer."""
        rate = sum(context.output.bytes_per_second for context in self._open.values())
        bound_send_buffer(self._request, rate * FRAMED)

    def _listened(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._ended()
