"""All routes of the server in one table: a new endpoint is one entry here, which serves, guards and documents it."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from aiohttp import hdrs, web

from frontend.http.routes.dialects import DIALECT_ROUTES
from frontend.http.routes.jobs import JOBS
from frontend.http.routes.kokoro_fastapi import KOKORO_FASTAPI
from frontend.http.routes.lists import LISTS
from frontend.http.routes.page import PAGE
from frontend.http.routes.play import PLAY
from frontend.http.routes.route import Handlers, Route
from frontend.http.routes.server import SERVER
from frontend.http.routes.speech import SPEECH
from frontend.serving.access.rules import Access
from frontend.serving.errors import ErrorAnswer
from frontend.serving.unknown_fields import names_of

ROUTES: tuple[Route, ...] = (*SPEECH, *KOKORO_FASTAPI, *DIALECT_ROUTES, *PLAY, *JOBS, *LISTS, *SERVER, *PAGE)


def mount(app: web.Application, handlers: Handlers) -> None:
    """Add each route whose handler the application has; `get` also answers HEAD."""
    for route in ROUTES:
        if handle := route.handler(handlers):
            for path in route.paths:
                address = path.replace("{id}", f"{{id:{route.id_pattern}}}")
                # The HEAD of a GET that makes work would do that work in vain.
                if route.method == "get":
                    app.router.add_get(address, handle, allow_head=route.answers_head)
                else:
                    app.router.add_route(route.method, address, handle)


@functools.cache
def _demanded() -> Mapping[tuple[str, str], Access]:
    return {(route.method.upper(), path): route.access for route in ROUTES for path in route.paths}


def access_of(method: str, template: str) -> Access:
    """The access that a route demands, by its template; `KEY` for a path that no route has."""
    asked = hdrs.METH_GET if method == hdrs.METH_HEAD else method
    return _demanded().get((asked, template), Access.KEY)


@functools.cache
def _queries() -> Mapping[tuple[str, str], frozenset[str]]:
    documented = [(route, route.operation.query) for route in ROUTES if route.operation]
    return {
        (route.method.upper(), path): frozenset(names_of(query) if query else ())
        for route, query in documented
        for path in route.paths
    }


def query_of(method: str, template: str) -> frozenset[str] | None:
    """The parameters of the address that a route takes; None for a route that isn't part of the API."""
    return _queries().get((hdrs.METH_GET if method == hdrs.METH_HEAD else method, template))


@functools.cache
def _streaming() -> frozenset[tuple[str, str]]:
    return frozenset((route.method.upper(), path) for route in ROUTES if route.streams_body for path in route.paths)


def streams_body(method: str, template: str) -> bool:
    """True if the route's handler reads the body itself."""
    return (method, template) in _streaming()


@functools.cache
def _error_forms() -> Mapping[str, type[ErrorAnswer]]:
    return {path: route.error_form for route in ROUTES if route.error_form for path in route.paths}


def error_form_of(template: str) -> type[ErrorAnswer] | None:
    """The form of the errors on a path, by its template; None: OpenAI's."""
    return _error_forms().get(template)
