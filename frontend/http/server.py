"""The server itself: probes, figures, and the description of the API, for programs and for people."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from aiohttp import hdrs, web

from frontend.http.jobs.handler import JOBS
from frontend.http.openapi import build, render
from frontend.monitoring.report import Status
from frontend.monitoring.status_handler import StatusHandler
from frontend.serving.errors import retry_after
from frontend.serving.json_body import json_response
from frontend.serving.route import MOUNTED, Access, Answer, Route, Routes, json_answer
from frontend.serving.services import SERVICES

STATIC = Path(__file__).parents[1] / "static"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".flac": "audio/flac",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}

_HEADERS = {
    # The page loads nothing from elsewhere and nothing inline, and no site can frame it. Downloads are links to blobs,
    # which this doesn't stop.
    "Content-Security-Policy": "default-src 'self'; media-src 'self' blob:; img-src 'self' blob: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # A browser asks every time and is answered with 304, so that a page never mixes two versions of the server.
    hdrs.CACHE_CONTROL: "no-cache",
}


STATUS: web.AppKey[StatusHandler] = web.AppKey("STATUS", StatusHandler)

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content security policy of a page that runs no script and loads no files."""


class Alive(msgspec.Struct):
    """The answer of a front that serves."""

    status: Literal["ok"]


class Ready(msgspec.Struct):
    """The engine in use."""

    ready: Literal[True]
    engine: str
    provider: str
    model: str


class NotReady(msgspec.Struct):
    """No engine speaks yet."""

    ready: Literal[False]
    reason: str


OpenApiDocument = dict[str, Any]
"""The OpenAPI document; its parts are defined by the OpenAPI specification."""

ROUTES = Routes()


@ROUTES.add("get", "/health", Access.OPEN, "Server", json_answer("It is, whatever is being spoken.", Alive))
async def health(request: web.Request) -> web.Response:
    """Is it alive?"""
    return json_response(Alive("ok"))


@ROUTES.add("get", "/v1/test", Access.OPEN, "Kokoro-FastAPI", json_answer("It is.", Alive))
async def test(request: web.Request) -> web.Response:
    """Is it alive? The same as /health."""
    return await health(request)  # wyoming_openai recognises Kokoro-FastAPI by this path


@ROUTES.add(
    "get",
    "/ready",
    Access.OPEN,
    "Server",
    answers={
        200: json_answer("It can.", Ready),
        503: json_answer("It can't, and why.", NotReady, ("Retry-After",)),
    },
)
async def ready(request: web.Request) -> web.Response:
    """Can it speak?"""
    speaker = request.app[SERVICES].speaker
    engine = speaker.engine
    if engine is None or speaker.reason:
        return json_response(NotReady(False, speaker.reason), 503, retry_after(speaker.retry_after))
    return json_response(Ready(True, engine.name, engine.provider, engine.model))


@ROUTES.add("get", "/status", Access.NEAR, "Server", json_answer("Counts begin with the process that counts.", Status))
async def status(request: web.Request) -> web.Response:
    """The server's state and figures."""
    return await request.app[STATUS].get(request)


@ROUTES.add(
    "get",
    "/metrics",
    Access.NEAR,
    "Server",
    Answer("In the text format that `Accept` asks for.", {"text/plain": None}),
)
async def metrics(request: web.Request) -> web.Response:
    """The same for Prometheus."""
    if jobs := request.app.get(JOBS):
        await jobs.refresh()
    body, content_type = request.app[SERVICES].metrics.exposition(request.headers.get(hdrs.ACCEPT, ""))
    return web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})


@ROUTES.add("get", "/openapi.json", Access.OPEN, "Server", json_answer("OpenAPI 3.1.", OpenApiDocument))
async def openapi(request: web.Request) -> web.Response:
    """This description."""
    return web.Response(body=msgspec.json.encode(_document(request)), content_type="application/json")


@ROUTES.add(
    "get", "/docs", Access.OPEN, "Server", Answer("A page that needs nothing from elsewhere.", {"text/html": None})
)
async def docs(request: web.Request) -> web.Response:
    """This description, to read."""
    page = render(_document(request), f"{request.scheme}://{request.headers.get(hdrs.HOST, 'localhost')}")
    return web.Response(text=page, content_type="text/html", headers={"Content-Security-Policy": _LOCKED})


def _document(request: web.Request) -> dict[str, Any]:
    return _built(tuple(dict.fromkeys(request.app[MOUNTED].values())))


@functools.lru_cache(maxsize=1)
def _built(routes: tuple[Route, ...]) -> dict[str, Any]:
    return build(routes)


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    content_type: str
    etag: str


_WORKER = "service-worker.js"
"""The page's service worker. It gets the names of all files, and changes when one of them does."""


@functools.cache
def _files() -> Mapping[str, _File]:
    """The page's files by name. A fixed table, so that no name can lead out of the folder."""
    files = {}
    for path in STATIC.iterdir():
        if path.suffix in _TYPES:
            body = path.read_bytes()
            files[path.name] = _File(body, _TYPES[path.suffix], _etag(body))
    worker = files[_WORKER]
    names = ["./", *(f"static/{name}" for name in sorted(files) if name not in ("index.html", _WORKER))]
    version = _etag(b"".join(files[name].body for name in sorted(files)))
    body = worker.body.replace(b'["./"]', msgspec.json.encode(names)).replace(
        b'VERSION = ""', b"VERSION = " + msgspec.json.encode(version)
    )
    files[_WORKER] = _File(body, worker.content_type, _etag(body))
    return files


def _etag(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


@ROUTES.add("get", "/", Access.OPEN)
async def index(request: web.Request) -> web.Response:
    return _answer(request, "index.html")


@ROUTES.add("get", f"/{_WORKER}", Access.OPEN)  # a worker is in charge of the addresses below its own
async def service_worker(request: web.Request) -> web.Response:
    return _answer(request, _WORKER)


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
