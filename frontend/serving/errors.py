"""Errors as clients see them, in the form of OpenAI's API or of another service, and the middleware that makes them."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from msgspec import Meta

from frontend.contract.errors import Broken, Fault, Interrupted, ListenersFirst, Overloaded, Unavailable, Unspeakable
from frontend.monitoring.metrics import Event, Metrics
from frontend.serving.connections import ClientLeft
from frontend.serving.sending import left
from shm import request_id
from text.errors import Mishap, TextError

_PLACES = {
    "/performance-stats": "GET /metrics has the histograms of first audio and real-time factor, GET /status the rest",
    "/optimization-status": "GET /status names the providers, stages and the tuning profile in use",
    "/cache-status": "GET /status has the cache, under `cache`",
    "/startup-progress": "GET /ready says whether the engine speaks, and GET /status what is being started",
    "/session-status": "GET /status lists the streams and the processes",
    "/v1/audio/speech/stream": "POST /v1/audio/speech streams by itself",
    "/tts": "POST /v1/audio/speech takes `text`, `voice`, `speed`, `lang`, `stream` and `format`",
    "/web": "the page is at GET /",
    "/dev/unload": "--idle-unload gives the memory back while nobody listens",
    "/dev/tune": "`kokoro-live tune` measures how many threads suit this machine",
    "/debug/system": "GET /status has memory and processes",
    "/debug/storage": "GET /status has memory and processes",
    "/debug/threads": "GET /status has memory and processes",
    "/debug/session_pools": "GET /status has the engine, its stages and the streams",
}


def elsewhere(path: str) -> str:
    """A sentence with the place of what was at this path in another server, after a space; empty if none is known."""
    place = _PLACES.get(path.rstrip("/")) or ("the page is at GET /" if path.startswith("/web/") else "")
    return f" Here {place}." if place else ""


ERROR_CODE = web.ResponseKey("ERROR_CODE", str)
"""The code in an error's body: `response.get(ERROR_CODE, "")`."""

REFUSAL_STATUS = "X-Refusal-Status"
"""Request header of a proxy that can ask another server after 503 but not after 429 (HAProxy before 3.0): `503`. The
answer's header of that name has the status that a client is to get."""

OVERLOADED, LISTENERS_FIRST = "overloaded", "listeners_first"
"""Codes of rejected requests: there is no room for them in time; they gave way to listeners."""

INTERNAL = "The server failed; its log has the reason under this X-Request-Id."

log = logging.getLogger(__name__)


class ErrorDetail(msgspec.Struct):
    """The reason for an error."""

    message: Annotated[str, Meta(description="The error, and a remedy.")]
    type: Literal["invalid_request_error", "server_error"]
    param: Annotated[str | None, Meta(description="The field that is wrong, where a single one is.")]
    code: Annotated[str | None, Meta(description="The same reason for programs; it doesn't change.")]


class ErrorAnswer(msgspec.Struct):
    """The body of an error over HTTP, in one service's shape."""

    content_type: ClassVar[str] = "application/json"

    def encoded(self) -> bytes:
        """The body's bytes."""
        return msgspec.json.encode(self)

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> ErrorAnswer:
        """The body of one error. Each service has its own; `abc` can't say so, because msgspec has a metaclass too."""
        raise NotImplementedError


class Error(ErrorAnswer):
    """Every error, in the shape of OpenAI's API."""

    error: ErrorDetail

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> Error:
        return cls(detail)


class Failure(NamedTuple):
    """An exception as a client is told of it."""

    status: int
    """On a socket, the HTTP status that stands for it."""
    detail: ErrorDetail
    headers: Mapping[str, str] | None = None


def failure(error: Exception) -> Failure:
    """An exception as a client is told of it."""
    match error:
        case TextError():
            return _failure(error.status, error.message, error.code, error.headers, param=error.param)
        case Unspeakable():
            return _failure(400, str(error), "unspeakable", param="input")
        case Overloaded():
            code = LISTENERS_FIRST if isinstance(error, ListenersFirst) else OVERLOADED
            return _failure(429, str(error), code, retry_after(error.retry_after))
        case Interrupted():
            return _failure(409, str(error), "interrupted")
        case Unavailable():
            return _failure(503, str(error), "unavailable", retry_after(error.retry_after))
        case Broken():
            return _failure(500, str(error), "synthesis_failed")
        case Fault():
            return _failure(500, str(error), "internal")
    return _failure(500, INTERNAL, "internal")


def _failure(
    status: int,
    message: str,
    code: str | None,
    headers: Mapping[str, str] | None = None,
    *,
    param: str | None = None,
) -> Failure:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return Failure(status, ErrorDetail(message, kind, param, code), headers)  # type: ignore[arg-type]


def note_late_failure(metrics: Metrics, error: Exception, protocol: str) -> Failure:
    """Count and log a failure on a socket, whose status was sent long ago."""
    failed = failure(error)
    if failed.detail.message is INTERNAL:
        Mishap.of(error).log(log, f"{request_id.current.get()}: {protocol} failed")
    log.info("%s: %s: %s", request_id.current.get(), protocol, failed.detail.message)
    if isinstance(error, Overloaded):
        metrics.count(Event.REFUSED)
    if failed.status in (408, 429) or failed.status >= 500:
        metrics.errors.add(request_id.current.get(), failed.detail.code or str(failed.status))
    return failed


def retry_after(seconds: float) -> dict[str, str]:
    """The `Retry-After` header: whole seconds, at least 1, never less than the given ones."""
    return {hdrs.RETRY_AFTER: str(max(1, math.ceil(seconds)))}


def errors_in_form(form_of: Callable[[web.Request], type[ErrorAnswer]]) -> Middleware:
    """The middleware that turns a handler's exception into a response in its route's form. Handlers raise only while no
    byte of their response was sent."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPNotFound:
            failed = _failure(404, f"There is no {asked(request)} here.{elsewhere(request.path)}", "unknown_url")
        except web.HTTPMethodNotAllowed as error:
            allowed = error.headers[hdrs.ALLOW]
            message = f"{asked(request)} is not allowed; use {allowed}."
            failed = _failure(405, message, "method_not_supported", {hdrs.ALLOW: allowed})
        except Exception as error:
            if isinstance(error, ConnectionError) and left(request):
                raise ClientLeft from error
            failed = failure(error)
            if isinstance(error, Broken):
                log.error("%s failed: %s: %s", request_id.current.get(), asked(request), error)
            elif failed.detail.message is INTERNAL:
                Mishap.of(error).log(log, f"{request_id.current.get()} failed: {asked(request)}")
        return _response(request, failed, form_of(request))

    return middleware


def _response(request: web.Request, failed: Failure, form: type[ErrorAnswer]) -> web.Response:
    status, detail, headers = failed
    if detail.code in (OVERLOADED, LISTENERS_FIRST) and request.headers.get(REFUSAL_STATUS) == "503":
        status, headers = 503, {**(headers or {}), REFUSAL_STATUS: "429"}
    body = form.of(status, detail).encoded()
    response = web.Response(status=status, body=body, content_type=form.content_type, headers=headers)
    response[ERROR_CODE] = detail.code or ""
    return response


def asked(request: web.Request) -> str:
    """The request's method and path, percent-encoded as received, so that a client's text can't break a line of the
    log."""
    return f"{request.method} {request.rel_url.raw_path[:200]}"
