"""One client's socket: its limits, its messages, its contexts' events and its end. The dialect gives messages their
meaning."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import WSCloseCode, WSMsgType, hdrs, web

from frontend.contexts.context import Context
from frontend.contexts.context_audio import Event
from frontend.contexts.services import SERVICES, Services
from frontend.contract.errors import ApiError, Interrupted, Overloaded, SpeechError, Unavailable
from frontend.dialects.open_contexts import OpenContexts
from frontend.monitoring.metrics import Event as Counted
from frontend.serving.connections import InterruptibleWait
from frontend.serving.errors import ErrorDetail, failure, note_late_failure
from frontend.serving.no_effect import no_effect, unknown_in
from frontend.serving.sending import taken
from shm import request_id
from text.errors import Mishap, TextError

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 64 * 1024

PING_SECONDS = 20.0
"""Seconds between pings. A client that answers none within half that time is gone."""

GOODBYE_SECONDS = 5.0
"""Seconds for a client to answer the server's close frame."""

_REASON_BYTES = 120
"""Room for the reason in a close frame (RFC 6455, section 5.5), about."""

_BROKEN = {
    WSCloseCode.MESSAGE_TOO_BIG: (413, f"A message is longer than {MAX_MESSAGE_BYTES} bytes: split the text."),
    WSCloseCode.INVALID_TEXT: (400, "A message is not UTF-8."),
    WSCloseCode.PROTOCOL_ERROR: (400, "A frame breaks the WebSocket protocol."),
}
"""Status and message for each code with which aiohttp closes a socket."""

_MOST_NAMED = 64
"""Fields without effect that are named on one socket; a client could send new names for ever."""


class Talk:
    """One client's socket: what its messages mean, and the messages that it is sent."""

    idle_seconds: float
    """Seconds without a message, while nothing is spoken, after which the socket is closed."""

    async def begin(self) -> None:
        """Check the address and greet, after the upgrade.

        Raises:
            ApiError, SpeechError: the socket ends with this error.
        """

    async def hear(self, message: Any) -> None:
        """Act on a decoded JSON message.

        Raises:
            ApiError, SpeechError: the message is wrong, or can't be followed.
        """
        raise NotImplementedError

    async def warn(self, message: str, code: str) -> None:
        """Tell the client what doesn't end anything; nothing is sent if the service has no message for it."""

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Send a context's event."""
        raise NotImplementedError

    async def ended(self, key: str) -> None:
        """Send the end of a context whose audio is whole; nothing if the socket's close says it."""

    def error(self, key: str | None, detail: ErrorDetail, status: int) -> dict[str, Any]:
        """The message for an error of a context, or of the socket (`None`)."""
        raise NotImplementedError


class Session:
    """One socket. `serve` runs until it is closed; the dialect opens contexts on it."""

    def __init__(
        self,
        request: web.Request,
        services: Services,
        name: str,
        messages: type[msgspec.Struct],
        talk: Callable[[Session], Talk],
    ) -> None:
        """
        Args:
            name: the dialect's, for log and metrics.
            messages: the fields that messages may have.
        """
        self.request = request
        self.services = services
        self.contexts = OpenContexts(request, services, self._listen, self._wake_if_over)
        self._waiting = InterruptibleWait()
        self._goodbye: tuple[WSCloseCode, str] | None = None
        """Code and reason of the close frame, once the socket is to end before its client ends it."""
        self._name = name
        self._known = messages
        self._talk = talk(self)
        self._named: set[str] = set()
        """Fields of messages that were named because they change nothing."""
        self._messages = _MessageSocket(lambda error: self._talk.error(None, failure(error).detail, error.status))

    async def serve(self) -> web.StreamResponse:
        """Answer the upgrade and all messages.

        Raises:
            ApiError: 426 or 400, the request doesn't ask for a WebSocket, or not correctly.
        """
        await self._messages.upgrade(self.request)
        with self.services.socket(self._name):
            try:
                await self._talk.begin()
                self.contexts.note_idleness()
                await self._converse()
            except (TextError, SpeechError) as error:
                await self.fail(None, error)
            except ConnectionError:
                log.info("%s: the client left", request_id.current.get())
            finally:
                await self.contexts.close()
        await self._messages.say_goodbye(*(self._goodbye or (WSCloseCode.OK, "")))
        return self._messages

    async def _converse(self) -> None:
        while not (self._messages.closed or self._is_over):
            try:
                message = await self._waiting.of(self._messages.receive(), self._talk.idle_seconds)
            except TimeoutError:
                if self._is_over or self.contexts.speaking:
                    continue
                reason = f"no message has come for {self._talk.idle_seconds:g} seconds"
                await self.fail(None, ApiError(408, reason, code="inactivity"))
                return
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
        await self._talk.hear(message)
        await self._name_dead_fields(text)

    async def _name_dead_fields(self, text: str) -> None:
        """Name the message's fields that no earlier message of the socket had, and that change nothing."""
        if len(self._named) >= _MOST_NAMED:
            return
        if new := [name for name in unknown_in(text.encode(), self._known) if name not in self._named]:
            self._named.update(new)
            log.info("%s: %s: %s", request_id.current.get(), self._name, no_effect(new))
            await self._talk.warn(no_effect(new), "NO_EFFECT")

    async def send(self, message: dict[str, Any]) -> None:
        """Send a JSON message; waits while the client reads too slowly."""
        if not self._messages.closed:
            await self._messages.send_str(msgspec.json.encode(message).decode())
            await taken(self.request)

    async def send_bytes(self, audio: bytes) -> None:
        """Send a binary message; waits like `send`."""
        if not self._messages.closed:
            await self._messages.send_bytes(audio)
            await taken(self.request)

    async def fail(self, key: str | None, error: Exception) -> None:
        """Report an error. An error of the socket closes it, and so does a refusal while nothing else is spoken."""
        await self._send_error(key, error)
        refused = isinstance(error, Overloaded | Unavailable)
        if key is None or (refused and not self.contexts):
            self._end(WSCloseCode.TRY_AGAIN_LATER if refused else WSCloseCode.POLICY_VIOLATION, str(error))

    def finish(self) -> None:
        """Have all contexts finish, then close the socket."""
        self.contexts.finish()
        self._wake_if_over()

    async def _listen(self, key: str, context: Context) -> None:
        try:
            async for event in context:
                await self._talk.tell(key, context, event)
        except ConnectionError:
            self.contexts.drop(key, only=context)
        except Exception as error:
            if not isinstance(error, TextError | SpeechError):
                Mishap.of(error).log(log, f"{request_id.current.get()}: a context failed")
            if context.sounded and not isinstance(error, Interrupted):
                self.services.metrics.count(Counted.CUT)
            self.contexts.drop(key, only=context)
            await self.fail(key, error)
        else:
            if self.contexts.drop(key, only=context, remember=False):
                try:
                    await self._talk.ended(key)
                except ConnectionError:
                    log.info("%s: the client left", request_id.current.get())

    @property
    def _is_over(self) -> bool:
        """True once all is said that is to be said, or an error ends the socket."""
        return self._goodbye is not None or self.contexts.over

    def _end(self, code: WSCloseCode, reason: str = "") -> None:
        self._goodbye = self._goodbye or (code, reason)
        self._wake_if_over()

    def _wake_if_over(self) -> None:
        """Have `_converse` return once the socket is over, and `serve` close it.

        aiohttp awaits the client's close frame only in the task that reads. A message that found the connection closed
        would reset it, and the audio that is still on its way would be lost.
        """
        if self._is_over:
            self._waiting.end()

    async def _send_error(self, key: str | None, error: Exception) -> None:
        status, detail, _ = note_late_failure(self.services.metrics, error)
        log.info("%s: %s: %s", request_id.current.get(), self._name, detail.message)
        try:
            await self.send(self._talk.error(key, detail, status))
        except ConnectionError:
            log.info("%s: the client left before it heard so", request_id.current.get())


class _MessageSocket(web.WebSocketResponse):
    """A WebSocket that explains itself before aiohttp closes it for a message that is too long or no UTF-8."""

    def __init__(self, error_message: Callable[[ApiError], dict[str, Any]]) -> None:
        """`error_message` returns the message that reports an error of the socket."""
        super().__init__(
            max_msg_size=MAX_MESSAGE_BYTES, heartbeat=PING_SECONDS, timeout=GOODBYE_SECONDS, compress=False
        )
        self._error_message = error_message

    async def upgrade(self, request: web.Request) -> None:
        """Answer the handshake.

        Raises:
            ApiError: 426 or 400, the request doesn't ask for a WebSocket, or not correctly.
        """
        try:
            await self.prepare(request)
        except web.HTTPBadRequest as error:
            raise _no_upgrade(request, error.text or error.reason) from error

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
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
        await self.close(code=code, message=reason.encode()[:_REASON_BYTES].decode(errors="ignore").encode())


def _no_upgrade(request: web.Request, reason: str) -> ApiError:
    """The error for a handshake that aiohttp has rejected."""
    if request.headers.get(hdrs.UPGRADE, "").strip().lower() == "websocket":
        return ApiError(400, f"The WebSocket's handshake is wrong: {reason}.", code="invalid_handshake")
    message = "This address is a WebSocket's: ask with `Connection: Upgrade` and `Upgrade: websocket`."
    headers: dict[str, str] = {hdrs.UPGRADE: "websocket", hdrs.CONNECTION: "Upgrade"}
    return ApiError(426, message, code="upgrade_required", headers=headers)


SESSIONS: web.AppKey[set[Session]] = web.AppKey("SESSIONS")
"""The open sockets of an application."""


async def serve(
    request: web.Request, name: str, messages: type[msgspec.Struct], talk: Callable[[Session], Talk]
) -> web.StreamResponse:
    """Answer a request for a socket. The arguments are those of `Session`."""
    session = Session(request, request.app[SERVICES], name, messages, talk)
    sessions = request.app[SESSIONS]
    sessions.add(session)
    try:
        return await session.serve()
    finally:
        sessions.discard(session)


async def drain(app: web.Application) -> None:
    """Have each socket finish its contexts and close, so that idle ones don't delay the front's end."""
    sessions = app[SESSIONS]
    for session in tuple(sessions):
        session.finish()
