"""The forms in which the other services' APIs answer errors over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from frontend.http.errors import ERROR_BODY
from shm import request_id

ErrorForm = Callable[[int, Mapping[str, str | None]], dict[str, Any]]
"""Makes a body of a status and an `error_body`."""


def elevenlabs_error(status: int, body: Mapping[str, str | None]) -> dict[str, Any]:
    """ElevenLabs' form."""
    return {"detail": {"status": body["code"], "message": body["message"]}}


def cartesia_error(status: int, body: Mapping[str, str | None]) -> dict[str, Any]:
    """Cartesia's form."""
    code = {"error_code": body["code"], "status_code": status}
    return {"title": "The request failed", "message": body["message"], **code, "request_id": request_id.current.get()}


def deepgram_error(status: int, body: Mapping[str, str | None]) -> dict[str, Any]:
    """Deepgram's form."""
    return {"err_code": body["code"], "err_msg": body["message"], "request_id": request_id.current.get()}


def errors_in_form(form_of: Callable[[str], ErrorForm | None]) -> Middleware:
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
            response.body = msgspec.json.encode(form(response.status, body))
        return response

    return middleware
