"""One client's socket: its contexts, its limits and its end. The dialect gives messages their meaning."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from aiohttp import WSCloseCode, WSMsgType, hdrs, web

from frontend.audio.formats import bytes_per_second
from frontend.contexts.context import Context
from frontend.contexts.events import Event
from frontend.contexts.services import Services
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError, Interrupted, Overloaded, SpeechError, Unavailable
from frontend.http import request_id
from frontend.http.answers.sent_ahead import FRAMED, bound_send_buffer, taken
from frontend.http.connections.connection import connection_of
from frontend.http.errors import late_error_body, late_status
from frontend.monitoring.metrics import Event as Counted

MAX_MESSAGE_BYTES = 64 * 1024
MAX_CONTEXTS = 20
"""Contexts of one socket. ElevenLabs allows 5, and clients that are interrupted in quick succession need more."""

PING_SECONDS = 20.0
"""Seconds between pings. A client that answers none within half that time is gone."""

GOODBYE_SECONDS = 5.0
"""Seconds for a client to answer the server's close frame."""

_REASON_BYTES = 120
"""Room for the reason in a close frame (RFC 6455, section 5.5), about."""

REMEMBERED = 100
"""Closed contexts of a socket whose names are remembered, so that text for them is an error."""

log = logging.getLogger(__name__)


class Dialect(Protocol):
    """The messages of one service."""

    name: str
    """Label in metrics and in `/status`."""

    @property
    def idle_seconds(self) -> float:
        """Seconds without a message, while nothing is spoken, after which the socket is closed."""
        ...

    async def begin(self) -> None:
        """Check the address and greet, after the upgrade.

        Raises:
            ApiError, SpeechError: the socket ends with this error.
        """
        ...

    async def hear(self, message: Any) -> None:
        """Act on a decoded JSON message.

        Raises:
            ApiError, SpeechError: the message is wrong, or can't be followed.
        """
        ...

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Send a context's event."""
        ...

    async def ended(self, key: str) -> None:
        """Send the end of a context whose audio is whole."""
        ...

    def error(self, key: str | None, body: dict[str, str | None], status: int) -> dict[str, Any]:
        """The message for an error of a context, or of the socket (`None`).

        Args:
            body: the error as `frontend.http.errors.late_error_body` gives it.
        """
        ...


class _Socket(web.WebSocketResponse):
    """A WebSocket that explains itself before aiohttp closes it for a message that is too long or no UTF-8."""

    def __init__(self, explain: Callable[[int], dict[str, Any]]) -> None:
        super().__init__(
            max_msg_size=MAX_MESSAGE_BYTES, heartbeat=PING_SECONDS, timeout=GOODBYE_SECONDS, compress=False
        )
        self._explain = explain

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if code in (WSCloseCode.MESSAGE_TOO_BIG, WSCloseCode.INVALID_TEXT, WSCloseCode.PROTOCOL_ERROR):
            try:
                await self.send_str(msgspec.json.encode(self._explain(code)).decode())
            except ConnectionError:
                log.info("%s: the client left before it heard why", request_id.current.get())
        return await super().close(code=code, message=message, drain=drain)


class Session:
    """One socket. `serve` runs until it is closed; the dialect opens contexts on it."""

    def __init__(self, request: web.Request, services: Services, dialect: Callable[[Session], Dialect]) -> None:
        self.request = request
        self.services = services
        self.closing = False
        """True once no more contexts are opened; the socket is closed when the open ones have ended."""
        self._contexts: dict[str, Context] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._gone: deque[str] = deque(maxlen=REMEMBERED)
        self._waiting: asyncio.Timeout | None = None
        """The wait for the next message."""
        self._goodbye: tuple[WSCloseCode, str] | None = None
        """Code and reason of the close frame, once the socket is to end before its client ends it."""
        self._socket = _Socket(self._explanation)
        self._dialect = dialect(self)

    async def serve(self) -> web.StreamResponse:
        """Answer the upgrade and all messages.

        Raises:
            ApiError: 426 or 400, the request doesn't ask for a WebSocket, or not correctly.
        """
        try:
            await self._socket.prepare(self.request)
        except web.HTTPBadRequest as error:
            raise _no_upgrade(self.request, error.text or error.reason) from error
        with self.services.socket(self._dialect.name):
            try:
                await self._dialect.begin()
                self._note_idleness()
                await self._converse()
            except (ApiError, SpeechError) as error:
                await self.fail(None, error)
            except ConnectionError:
                log.info("%s: the client left", request_id.current.get())
            finally:
                for key in list(self._contexts):
                    self.drop(key)
                for task in self._tasks:
                    task.cancel()
                if self._tasks:
                    await asyncio.wait(self._tasks)
        code, reason = self._goodbye or (WSCloseCode.OK, "")
        await self._socket.close(code=code, message=reason.encode()[:_REASON_BYTES].decode(errors="ignore").encode())
        return self._socket

    async def _converse(self) -> None:
        while not (self._socket.closed or self._is_over):
            try:
                async with asyncio.timeout(self._dialect.idle_seconds) as self._waiting:
                    message = await self._socket.receive()
            except TimeoutError:
                if self._is_over or any(context.speaking for context in self._contexts.values()):
                    continue
                reason = f"no message has come for {self._dialect.idle_seconds:g} seconds"
                await self.fail(None, ApiError(408, reason, code="inactivity"))
                return
            finally:
                self._waiting = None
            if message.type is WSMsgType.TEXT:
                await self._hear(message.data)
            elif message.type is WSMsgType.BINARY:
                reason = "Messages are JSON in text frames; this one was binary."
                await self._send_error(None, ApiError(400, reason, code="invalid_message"))
                self._end(WSCloseCode.UNSUPPORTED_DATA)
            else:
                return

    async def _hear(self, text: str) -> None:
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ApiError(400, f"The message is not JSON: {error}.", code="invalid_json") from error
        if not isinstance(message, dict):
            raise ApiError(400, "The message is not a JSON object.", code="invalid_message")
        await self._dialect.hear(message)

    # -- for dialects

    def context(self, key: str) -> Context | None:
        """The open context of that name."""
        return self._contexts.get(key)

    def open(self, key: str, voicing: Voicing) -> Context:
        """Open a context, whose events go to the dialect.

        Raises:
            ApiError: 400, the name was used by a context that has ended, or the socket is closing; 429, too many.
        """
        if self.closing:
            raise ApiError(400, "The socket is closing: open another one.", code="socket_closing")
        if key in self._gone:
            raise ApiError(400, f"The context {key[:64]!r} has been closed.", code="context_closed")
        if len(self._contexts) >= MAX_CONTEXTS:
            # Clients that are interrupted in quick succession leave contexts open.
            empty = next((name for name, context in self._contexts.items() if context.empty), None)
            if empty is not None:
                self.drop(empty)
        if len(self._contexts) >= MAX_CONTEXTS:
            message = f"{MAX_CONTEXTS} contexts are open on this socket: close one first."
            raise ApiError(429, message, code="too_many_contexts")
        context = self._contexts[key] = Context(self.services, voicing)
        self._bound()
        self._note_idleness()
        task = asyncio.create_task(self._listen(key, context))
        self._tasks.add(task)
        task.add_done_callback(self._listened)
        return context

    def drop(self, key: str, *, remember: bool = True) -> None:
        """Close a context now: its ring is free when this returns, and nothing more of it is sent.

        Args:
            remember: text for the same name is an error from now on.
        """
        if context := self._contexts.pop(key, None):
            context.close()
            if remember:
                self._gone.append(key)
            self._note_idleness()

    def finish(self) -> None:
        """Have all contexts finish, then close the socket."""
        self.closing = True
        for context in self._contexts.values():
            with suppress(ApiError):  # the context's events end with it
                context.finish()
        self._wake_if_over()

    async def send(self, message: dict[str, Any]) -> None:
        """Send a JSON message; waits while the client reads too slowly."""
        if not self._socket.closed:
            await self._socket.send_str(msgspec.json.encode(message).decode())
            await taken(self.request)

    async def send_bytes(self, audio: bytes) -> None:
        """Send a binary message; waits like `send`."""
        if not self._socket.closed:
            await self._socket.send_bytes(audio)
            await taken(self.request)

    async def fail(self, key: str | None, error: Exception) -> None:
        """Report an error. An error of the socket closes it, and so does a refusal while nothing else is spoken."""
        await self._send_error(key, error)
        refused = isinstance(error, Overloaded | Unavailable)
        if key is None or (refused and not self._contexts):
            self._end(WSCloseCode.TRY_AGAIN_LATER if refused else WSCloseCode.POLICY_VIOLATION, str(error))

    # -- contexts

    def _bound(self) -> None:
        """Bound the audio that has left for a client that doesn't read: the open contexts share the send buffer."""
        voicings = [context.voicing for context in self._contexts.values()]
        rate = sum(bytes_per_second(each.format, each.sample_rate, each.bit_rate) for each in voicings)
        bound_send_buffer(self.request, rate * FRAMED)

    async def _listen(self, key: str, context: Context) -> None:
        try:
            async for event in context:
                await self._dialect.tell(key, context, event)
        except ConnectionError:
            self._drop_own(key, context)
        except Exception as error:
            if not isinstance(error, ApiError | SpeechError):
                log.exception("%s: a context failed", request_id.current.get())
            if context.sounded and not isinstance(error, Interrupted):
                self.services.metrics.count(Counted.CUT)
            self._drop_own(key, context)
            await self.fail(key, error)
        else:
            if self._contexts.get(key) is context:
                self.drop(key, remember=False)
                try:
                    await self._dialect.ended(key)
                except ConnectionError:
                    log.info("%s: the client left", request_id.current.get())

    def _listened(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake_if_over()

    def _drop_own(self, key: str, context: Context) -> None:
        """Drop a context, but not a later one of the same name."""
        if self._contexts.get(key) is context:
            self.drop(key)

    @property
    def _is_over(self) -> bool:
        """True once all is said that is to be said, or an error ends the socket."""
        return self._goodbye is not None or (self.closing and not self._tasks)

    def _end(self, code: WSCloseCode, reason: str = "") -> None:
        self._goodbye = self._goodbye or (code, reason)
        self._wake_if_over()

    def _wake_if_over(self) -> None:
        """Have `_converse` return once the socket is over, and `serve` close it.

        aiohttp awaits the client's close frame only in the task that reads. A message that found the connection closed
        would reset it, and the audio that is still on its way would be lost.
        """
        if self._is_over and self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    def _note_idleness(self) -> None:
        """Tell the connection whether it may be closed for another client's: nothing is spoken on it."""
        if connection := connection_of(self.request):
            (connection.works if self._contexts else connection.rests)()

    async def _send_error(self, key: str | None, error: Exception) -> None:
        body, status = late_error_body(error), late_status(error)
        if isinstance(error, Overloaded):
            self.services.metrics.count(Counted.REFUSED)
        if status in (408, 429) or status >= 500:
            self.services.metrics.errors.add(request_id.current.get(), body["code"] or str(status))
        log.info("%s: %s: %s", request_id.current.get(), self._dialect.name, body["message"])
        try:
            await self.send(self._dialect.error(key, body, status))
        except ConnectionError:
            log.info("%s: the client left before it heard so", request_id.current.get())

    def _explanation(self, code: int) -> dict[str, Any]:
        reasons = {
            WSCloseCode.MESSAGE_TOO_BIG: f"A message is longer than {MAX_MESSAGE_BYTES} bytes: split the text.",
            WSCloseCode.INVALID_TEXT: "A message is not UTF-8.",
        }
        reason = reasons.get(WSCloseCode(code), "A frame breaks the WebSocket protocol.")
        error = ApiError(413 if code == WSCloseCode.MESSAGE_TOO_BIG else 400, reason, code="invalid_message")
        return self._dialect.error(None, late_error_body(error), error.status)


def _no_upgrade(request: web.Request, reason: str) -> ApiError:
    """The error for a handshake that aiohttp has rejected."""
    if request.headers.get(hdrs.UPGRADE, "").strip().lower() == "websocket":
        return ApiError(400, f"The WebSocket's handshake is wrong: {reason}.", code="invalid_handshake")
    message = "This address is a WebSocket's: ask with `Connection: Upgrade` and `Upgrade: websocket`."
    headers: dict[str, str] = {hdrs.UPGRADE: "websocket", hdrs.CONNECTION: "Upgrade"}
    return ApiError(426, message, code="upgrade_required", headers=headers)
