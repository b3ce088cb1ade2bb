"""Errors in the form of OpenAI's API, and the middleware that gives every failure that form."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from frontend.contract.errors import (
    Broken,
    Fault,
    Interrupted,
    ListenersFirst,
    Overloaded,
    SpeechError,
    Unavailable,
    Unspeakable,
)
from frontend.monitoring.metrics import Event, Metrics
from shm import request_id
from text.errors import TextError
from text.isolation.mishap import Mishap

ERROR_BODY = web.ResponseKey("ERROR_BODY", dict[str, str | None])
"""An error's `error_body`: `response.get(ERROR_BODY)`, for answers in another form."""

ERROR_CODE = web.ResponseKey("ERROR_CODE", str)
"""The code in an error's body: `response.get(ERROR_CODE, "")`."""

REFUSAL_STATUS = "X-Refusal-Status"
"""Request header of a proxy that can ask another server after 503 but not after 429 (HAProxy before 3.0): `503`. The
answer's header of that name has the status that a client is to get."""

OVERLOADED, LISTENERS_FIRST = "overloaded", "listeners_first"
"""Codes of rejected requests: there is no room for them in time; they gave way to listeners."""

INTERNAL = "The server failed; its log has the reason under this X-Request-Id."

log = logging.getLogger(__name__)


class ErrorAnswer(msgspec.Struct):
    """The body of an error over HTTP, in another service's shape."""

    @classmethod
    def of(cls, status: int, body: Mapping[str, str | None]) -> ErrorAnswer:
        """The body for a status and an `error_body`."""
        raise NotImplementedError


def error_response(
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error response in the form of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`."""
    body = error_body(status, message, param=param, code=code)
    encoded = msgspec.json.encode({"error": body})
    response = web.Response(status=status, body=encoded, content_type="application/json", headers=headers)
    response[ERROR_CODE] = code or ""
    response[ERROR_BODY] = body
    return response


def error_body(
    status: int, message: str, *, param: str | None = None, code: str | None = None
) -> dict[str, str | None]:
    """An error's body: `{"message", "type", "param", "code"}`."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"message": message, "type": kind, "param": param, "code": code}


def late_error_body(error: Exception) -> dict[str, str | None]:
    """An `error_body` for a failure after the status was sent."""
    match error:
        case TextError():
            return error_body(error.status, error.message, param=error.param, code=error.code)
        case Unspeakable():
            return error_body(400, str(error), param="input", code="unspeakable")
        case ListenersFirst():
            return error_body(429, str(error), code=LISTENERS_FIRST)
        case Overloaded():
            return error_body(429, str(error), code=OVERLOADED)
        case Interrupted():
            return error_body(409, str(error), code="interrupted")
        case Unavailable():
            return error_body(503, str(error), code="unavailable")
        case Broken():
            return error_body(500, str(error), code="synthesis_failed")
        case Fault():
            return error_body(500, str(error), code="internal")
    return error_body(500, INTERNAL, code="internal")


def note_late_error(metrics: Metrics, error: Exception) -> tuple[dict[str, str | None], int]:
    """Count a failure on a socket; its `late_error_body`, and the HTTP status that stands for it."""
    body, status = late_error_body(error), _late_status(error)
    if isinstance(error, Overloaded):
        metrics.count(Event.REFUSED)
    if status in (408, 429) or status >= 500:
        metrics.errors.add(request_id.current.get(), body["code"] or str(status))
    return body, status


def _late_status(error: Exception) -> int:
    match error:
        case TextError():
            return error.status
        case Interrupted():
            return 409
        case Overloaded():
            return 429
        case Unavailable():
            return 503
        case Broken() | Fault():
            return 500
        case SpeechError():
            return 400
    return 500


def retry_after(seconds: float) -> dict[str, str]:
    """The `Retry-After` header: whole seconds, at least 1, never less than the given ones."""
    return {hdrs.RETRY_AFTER: str(max(1, math.ceil(seconds)))}


@web.middleware
async def openai_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn a handler's exception into a response. Handlers raise only while no byte of their response was sent."""
    try:
        return await handler(request)
    except TextError as error:
        return error_response(error.status, error.message, param=error.param, code=error.code, headers=error.headers)
    except Unspeakable as error:
        return error_response(400, str(error), param="input", code="unspeakable")
    except Interrupted as error:
        return error_response(409, str(error), code="interrupted")
    except Overloaded as error:
        return _overloaded(request, error)
    except Unavailable as error:
        return error_response(503, str(error), code="unavailable", headers=retry_after(error.retry_after))
    except Broken as error:
        log.error("%s failed: %s: %s", request_id.current.get(), asked(request), error)
        return error_response(500, str(error), code="synthesis_failed")
    except Fault as error:
        return error_response(500, str(error), code="internal")
    except web.HTTPNotFound:
        return error_response(404, f"There is no {asked(request)} here.", code="unknown_url")
    except web.HTTPMethodNotAllowed as error:
        allowed = error.headers[hdrs.ALLOW]
        message = f"{asked(request)} is not allowed; use {allowed}."
        return error_response(405, message, code="method_not_supported", headers={"Allow": allowed})
    except Exception as error:
        Mishap.of(error).log(log, f"{request_id.current.get()} failed: {asked(request)}")
        return error_response(500, INTERNAL, code="internal")


def _overloaded(request: web.Request, error: Overloaded) -> web.Response:
    headers = retry_after(error.retry_after)
    status = 429
    if request.headers.get(REFUSAL_STATUS) == "503":
        status = 503
        headers[REFUSAL_STATUS] = "429"
    return error_response(status, str(error), code=late_error_body(error)["code"], headers=headers)


def asked(request: web.Request) -> str:
    """The request's method and path, percent-encoded as received, so that a client's text can't break a line of the
    log."""
    return f"{request.method} {request.rel_url.raw_path[:200]}"


def errors_in_form(form_of: Callable[[str], type[ErrorAnswer] | None]) -> Middleware:
    """The middleware that gives errors their route's form; it stands around `openai_errors`.

    Args:
        form_of: the form by a route's template; None: OpenAI's.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        resource = request.match_info.route.resource
        body = response.get(ERROR_BODY)
        form = form_of(resource.canonical) if body and resource else None
        if form and body and isinstance(response, web.Response):
            response.body = msgspec.json.encode(form.of(response.status, body))
        return response

    return middleware
