"""The server itself: probes, figures, and the description of the API, for programs and for people."""

from __future__ import annotations

import functools
from typing import Any, Literal

import msgspec
from aiohttp import hdrs, web

from frontend.contexts.services import SERVICES
from frontend.http.jobs.handler import JOBS
from frontend.http.openapi.document import build
from frontend.http.openapi.page import render
from frontend.monitoring.report import Status
from frontend.monitoring.status_handler import StatusHandler
from frontend.serving.errors import retry_after
from frontend.serving.json_body import json_response
from frontend.serving.route import MOUNTED, Access, Answer, Route, Routes, json_answer

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
