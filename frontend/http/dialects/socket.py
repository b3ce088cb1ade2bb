"""One client's socket: its contexts, its limits and its end. The dialect gives messages their meaning."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from aiohttp import WSCloseCode, WSMsgType, hdrs, web

from frontend.audio.formats import bytes_per_second
from frontend.contexts.context import Context
from frontend.contexts.events import Event
from frontend.contexts.services import Services
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError, Overloaded, SpeechError, Unavailable
from frontend.http import request_id
from frontend.http.answers.sent_ahead import FRAMED, bound_send_buffer, taken
from frontend.http.errors import late_error_body, late_status
from frontend.monitoring.metrics import Event as Counted

MAX_MESSAGE_BYTES = 64 * 1024
MAX_CONTEXTS = 20
"""Contexts of one socket. ElevenLabs allows 5, and clients that are interrupted in quick succession need more."""

PING_SECONDS = 20.0
"""Seconds between pings. A client that answers none within half that time is gone."""

GOODBYE_SECONDS = 5.0
"""Seconds for a client to answer the server's close frame."""

REMEMBERED = 100
"""Closed contexts of a socket whose names are remembered, so that text for them is an error."""

log = logging.getLogger(__name__)


class Dialect(Protocol):
    """The messages of one service."""

    name: str
    """Label in metrics and in `/status`."""
    idle_seconds: float
    """Seconds without a message, while nothing is spoken, after which the socket is closed."""

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
        await self._socket.close()
        return self._socket

    async def _converse(self) -> None:
        while not self._socket.closed:
            try:
                message = await self._socket.receive(timeout=self._dialect.idle_seconds)
            except TimeoutError:
                if any(context.speaking for context in self._contexts.values()):
                    continue
                reason = f"no message has come for {self._dialect.idle_seconds:g} seconds"
                await self._send_error(None, ApiError(408, reason, code="inactivity"))
                await self._socket.close(code=WSCloseCode.POLICY_VIOLATION, message=reason.encode())
                return
            if message.type is WSMsgType.TEXT:
                await self._hear(message.data)
            elif message.type is WSMsgType.BINARY:
                reason = "Messages are JSON in text frames; this one was binary."
                await self._send_error(None, ApiError(400, reason, code="invalid_message"))
                await self._socket.close(code=WSCloseCode.UNSUPPORTED_DATA)
            else:
                return
            self._close_if_done()

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
            silent = next((name for name, context in self._contexts.items() if not context.speaking), None)
            if silent is not None:
                self.drop(silent)
        if len(self._contexts) >= MAX_CONTEXTS:
            message = f"{MAX_CONTEXTS} contexts are open on this socket: close one first."
            raise ApiError(429, message, code="too_many_contexts")
        context = self._contexts[key] = Context(self.services, voicing)
        self._bound()
        task = asyncio.create_task(self._listen(key, context))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
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

    def finish(self) -> None:
        """Have all contexts finish, then close the socket."""
        self.closing = True
        for context in self._contexts.values():
            try:
                context.finish()
            except ApiError as error:
                log.info("%s: %s", request_id.current.get(), error.message)
        self._close_if_done()

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
            code = WSCloseCode.TRY_AGAIN_LATER if refused else WSCloseCode.POLICY_VIOLATION
            reason = str(error).encode()[:120].decode(errors="ignore").encode()
            await self._socket.close(code=code, message=reason)

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
        except (ApiError, SpeechError) as error:
            self.drop(key)
            await self.fail(key, error)
        except ConnectionError:
            self.drop(key)
        except Exception as error:
            log.exception("%s: a context failed", request_id.current.get())
            self.drop(key)
            await self.fail(key, error)
        else:
            if self._contexts.get(key) is context:
                self.drop(key, remember=False)
                try:
                    await self._dialect.ended(key)
                except ConnectionError:
                    log.info("%s: the client left", request_id.current.get())
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self.closing and not self._contexts and not self._socket.closed:
            task = asyncio.create_task(self._bid_farewell())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _bid_farewell(self) -> None:
        await self._socket.close()

    async def _send_error(self, key: str | None, error: Exception) -> None:
        body, status = late_error_body(error), late_status(error)
        if isinstance(error, Overloaded):
            self.services.metrics.count(Counted.REFUSED)
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
