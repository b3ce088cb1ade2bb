"""The routes of all dialects, from their declarations. A setting turns each dialect's routes off."""

from __future__ import annotations

from collections.abc import Callable

from frontend.dialects.all import DIALECTS
from frontend.dialects.dialect import Dialect, Post, Socket
from frontend.http.routes.route import JSON, Answer, Handle, Handlers, Operation, Route
from frontend.http.routes.speech import FILES, WITH_BODY
from frontend.serving.access.rules import Access

_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Cache", "X-Speakable")
_AUDIO = Answer("The audio, while it is made.", dict.fromkeys((*FILES, "audio/basic")), _HEADERS)
_TIMED = Answer("Audio in base64, and times of its characters.", {JSON: None}, _HEADERS)
_UPGRADED = Answer("The WebSocket is open; a wrong address is explained on it.", {})


def _route(dialect: Dialect, call: Post | Socket) -> Route:
    if isinstance(call, Socket):
        operation = Operation(
            "Other protocols",
            f"A WebSocket for clients of {dialect.name}",
            {101: _UPGRADED},
            errors=(400, 403, 426, 429),
            query=call.query,
        )
        handler = _handler(dialect, call)
        return Route("get", call.path, call.access, handler, operation, opens_socket=True, error_form=dialect.error)
    operation = Operation(
        "Other protocols",
        f"Speak a text, for clients of {dialect.name}",
        {200: _TIMED if call.timed else _AUDIO},
        "Errors have the form of that service. `X-Warning` names its fields that have no effect here.",
        (*WITH_BODY, 500),
        call.body,
        call.example,
        query=call.query,
    )
    return Route("post", call.path, Access.KEY, _handler(dialect, call), operation, error_form=dialect.error)


def _handler(dialect: Dialect, call: Post | Socket) -> Callable[[Handlers], Handle | None]:
    return lambda handlers: handlers.dialects.handle(dialect, call) if handlers.dialects else None


DIALECT_ROUTES: tuple[Route, ...] = tuple(_route(dialect, call) for dialect in DIALECTS for call in dialect.calls)
