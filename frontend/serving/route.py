"""A route, declared at its handler: method and path, the clients that it answers, and its documentation."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from aiohttp import web

from frontend.serving.errors import Error, ErrorAnswer

JSON = "application/json"

KEY_PARAMETER = "key"
"""The parameter of an address that may have a client's API key, as Google's clients send it."""

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]
Declared = TypeVar("Declared", bound=Handle)

WITH_BODY = (400, 403, 408, 413, 415, 429, 503)
"""Status codes of the errors of all routes that take a body."""


class Access(Enum):
    """The clients that a route answers where API keys are configured."""

    OPEN = "open"
    """Every client: probes that have no key, and public pages."""
    NEAR = "near"
    """Clients on this machine, and others with a key. Open WebUI asks for models and voices without its key."""
    KEY = "key"
    """Clients with a key."""
    LOCAL = "local"
    """Clients on this machine where no key is configured, else clients with a key. For a GET that makes work: a link
    or a player can follow it, so it is also refused to pages of other sites."""
    HERE = "here"
    """Clients as for `LOCAL`; for routes that control this machine's loudspeakers. A GET among them only reads, so
    it doesn't count against a client's rate."""
    SOCKET = "socket"
    """Clients with a key, which a socket may send in its first message: a web page can't set its upgrade's headers. The
    handler checks that message (`frontend.serving.gate.KEY_DUE`)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful (or, for `/ready`, expected) answer."""

    description: str
    content: Mapping[str, Any]
    """The type of the JSON that each content type has; None where it has no JSON."""
    headers: tuple[str, ...] = ()


def json_answer(description: str, kind: Any, headers: tuple[str, ...] = ()) -> Answer:
    return Answer(description, {JSON: kind}, headers)


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """One operation. A path under `/v1` is also answered without the `/v1`."""

    method: str
    """HTTP method in lower case, as OpenAPI writes it."""
    path: str
    access: Access
    handle: Handle
    tag: str = ""
    """The heading of its documentation; empty for a route that isn't part of the API (the page's files)."""
    summary: str = ""
    description: str = ""
    answers: Mapping[int, Answer] = field(default_factory=dict)
    errors: tuple[int, ...] = (403,)
    body: Any = None
    example: Any = field(default_factory=dict)
    """A valid body."""
    body_type: str = JSON
    """The body's content type."""
    query: Any = None
    """A type whose fields are the query's parameters."""
    request_headers: tuple[str, ...] = ()
    id_pattern: str = "[^/]+"
    """The regular expression of the ids that stand for `{id}` in the path."""
    opens_socket: bool = False
    """True if the GET is the beginning of a WebSocket."""
    repeatable: bool = False
    """True if a request may be handled again after its front was killed: it has no effect but its answer. A GET has
    none."""
    streams_body: bool = False
    """True if the handler reads the body itself, piece by piece, with limits of its own."""
    error_form: type[ErrorAnswer] = Error
    needs_body: bool = True
    """False if a request without a body, or with an empty one, has a meaning."""

    @property
    def methods(self) -> tuple[str, ...]:
        """A GET answers HEAD too, unless it makes work, which would be in vain, or opens a socket."""
        looks = self.method == "get" and self.access not in (Access.LOCAL, Access.HERE) and not self.opens_socket
        return (self.method, "head") if looks else (self.method,)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.path.removeprefix("/v1")) if self.path.startswith("/v1/") else (self.path,)


class Routes(list[Route]):
    """The routes of one file's handlers."""

    def add(
        self,
        method: str,
        path: str,
        access: Access,
        tag: str = "",
        answer: Answer | None = None,
        **more: Any,
    ) -> Callable[[Declared], Declared]:
        """Declare the decorated handler as a route. Its docstring is the documentation: the first paragraph is the
        summary, the next one the description, up to `Raises`.

        Args:
            answer: the answer with status 200.
            more: other fields of the `Route`.
        """

        def declare(handle: Declared) -> Declared:
            summary, _, rest = inspect.cleandoc(handle.__doc__ or "").partition("\n\n")
            description = rest.partition("Raises:")[0]
            words = {"summary": _joined(summary).removesuffix("."), "description": _joined(description)}
            answers = {200: answer} if answer else {}
            self.append(Route(method, path, access, handle, tag, **{"answers": answers, **words, **more}))
            return handle

        return declare


def _joined(paragraph: str) -> str:
    return " ".join(paragraph.split())


MOUNTED: web.AppKey[Mapping[web.AbstractRoute, Route]] = web.AppKey("MOUNTED")


def mount(app: web.Application, routes: Iterable[Route]) -> None:
    app[MOUNTED] = {
        app.router.add_route(method, path.replace("{id}", f"{{id:{route.id_pattern}}}"), route.handle): route
        for route in routes
        for path in route.paths
        for method in route.methods
    }


def route_of(request: web.Request) -> Route | None:
    """The request's route; None where there is none."""
    return request.app.get(MOUNTED, {}).get(request.match_info.route)


def is_repeatable(request: web.Request) -> bool:
    """True if the request may be handled again after its front was killed."""
    route = route_of(request)
    return route is None or route.method == "get" or route.repeatable
