"""GET /openapi.json and /docs: the API's description, for programs and for people."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import hdrs, web

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content security policy of a page that runs no script and loads no files."""


class Description:
    """The handlers. The document is built at its first request."""

    def __init__(self, build: Callable[[], dict[str, Any]], render: Callable[[dict[str, Any], str], str]) -> None:
        """`render` makes the page out of the document and the server's address."""
        self._document = functools.cache(build)
        self._render = render

    async def openapi(self, request: web.Request) -> web.Response:
        """The OpenAPI document."""
        return web.Response(body=msgspec.json.encode(self._document()), content_type="application/json")

    async def docs(self, request: web.Request) -> web.Response:
        """The OpenAPI document as a page of HTML."""
        page = self._render(self._document(), f"{request.scheme}://{request.headers.get(hdrs.HOST, 'localhost')}")
        return web.Response(text=page, content_type="text/html", headers={"Content-Security-Policy": _LOCKED})
