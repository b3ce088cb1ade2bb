"""`/openapi.json` and `/docs`."""

from __future__ import annotations

import functools

import msgspec
from aiohttp import hdrs, web

from frontend.http.openapi.document import build
from frontend.http.openapi.operations import OPERATIONS
from frontend.http.openapi.page import render

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The page runs no script, and loads nothing."""

_document = functools.cache(lambda: build(OPERATIONS))


async def openapi(request: web.Request) -> web.Response:
    """The description, for programs."""
    return web.Response(body=msgspec.json.encode(_document()), content_type="application/json")


async def docs(request: web.Request) -> web.Response:
    """The description, for people."""
    page = render(_document(), f"{request.scheme}://{request.headers.get(hdrs.HOST, 'localhost')}")
    return web.Response(text=page, content_type="text/html", headers={"Content-Security-Policy": _LOCKED})
