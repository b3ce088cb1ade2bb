"""The page at `/`, for people: its files, read once, each answered with headers that isolate the page."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import hdrs, web

from frontend.serving.route import Access, Routes

STATIC = Path(__file__).parents[1] / "static"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

_HEADERS = {
    # The page loads nothing from elsewhere and nothing inline, and no site can frame it. Downloads are links to blobs,
    # which this doesn't stop.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # A browser asks every time and is answered with 304, so that a page never mixes two versions of the server.
    hdrs.CACHE_CONTROL: "no-cache",
}


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    content_type: str
    etag: str


@functools.cache
def _files() -> Mapping[str, _File]:
    """The page's files by name. A fixed table, so that no name can lead out of the folder."""
    files = {}
    for path in STATIC.iterdir():
        if path.suffix in _TYPES:
            body = path.read_bytes()
            files[path.name] = _File(body, _TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:16])
    return files


ROUTES = Routes()


@ROUTES.add("get", "/", Access.OPEN)
async def index(request: web.Request) -> web.Response:
    return _answer(request, "index.html")


@ROUTES.add("get", "/static/{name}", Access.OPEN)
async def static(request: web.Request) -> web.Response:
    return _answer(request, request.match_info["name"])


@ROUTES.add("get", "/favicon.ico", Access.OPEN)  # browsers ask for it on other pages than this one
async def favicon(request: web.Request) -> web.Response:
    return _answer(request, "favicon.svg")


def _answer(request: web.Request, name: str) -> web.Response:
    file = _files().get(name)
    if file is None:
        raise web.HTTPNotFound
    response = web.Response(headers=_HEADERS)
    response.etag = file.etag
    known = request.if_none_match
    if known is not None and any(etag.value in (file.etag, "*") for etag in known):
        response.set_status(304)
    else:
        response.body = file.body
        response.headers[hdrs.CONTENT_TYPE] = file.content_type
    return response
