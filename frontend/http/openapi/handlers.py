"""GET /openapi.json and /docs: the API's description, for programs and for people."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import hdrs, web

from frontend.http.openapi.page import render

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content security policy of a page that runs no script and loads no files."""


class Description:
    """The handlers. The document is built at its first request."""

    def __init__(self, build: Callable[[], dict[str, Any]]) -> None:
        self._document = functools.cache(build)

    async def openapi(self, request: web.Request) -> web.Response:
        """The OpenAPI document."""
        return web.Response(body=msgspec.json.encode(self._document()), content_type="application/json")

    async def docs(self, request: web.Request) -> web.Response:
        """The OpenAPI document as a page of HTML."""
        page = render(self._document(), f"{request.scheme}://{request.headers.get(hdrs.HOST, 'localhost')}")
        return web.Response(text=page, content_type="text/html", headers={"Content-Security-Policy": _LOCKED})
