"""A WebSocket of JSON messages, which explains itself before it ends, and whose record outlives this front."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import msgspec
from aiohttp import WSCloseCode, hdrs, web

from frontend.contexts.journal import SocketJournal
from frontend.contract.errors import ApiError
from frontend.serving.record import Record
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
