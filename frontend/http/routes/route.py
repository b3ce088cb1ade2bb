"""A route: method and path, the handler that answers it, the access it demands, and its documentation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from frontend.dialects.handlers import Dialects
from frontend.http.catalog import Catalog
from frontend.http.description import Description
from frontend.http.health import Health
from frontend.http.jobs.handler import JobsHandler
from frontend.http.phonemize import Phonemizer
from frontend.http.play import PlayHandler
from frontend.http.scrape import Scrape
from frontend.http.sentences import SentenceDivision
from frontend.http.speech import SpeechHandler
from frontend.http.ssml_translation import SsmlTranslation
from frontend.monitoring.status_handler import StatusHandler
from frontend.serving.access.rules import Access
from frontend.serving.errors import ErrorAnswer
from frontend.speech.downloads import Downloads

JSON = "application/json"

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Handlers:
    """The objects whose methods answer requests. If one of the last five is absent, its routes are too."""

    speech: SpeechHandler
    downloads: Downloads
    catalog: Catalog
    health: Health
    scrape: Scrape
    description: Description
    translation: SsmlTranslation
    sentences: SentenceDivision
    phonemizer: Phonemizer | None = None
    status: StatusHandler | None = None
    play: PlayHandler | None = None
    dialects: Dialects | None = None
    jobs: JobsHandler | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One successful (or, for `/ready`, expected) answer: its content types, each with its type; None stands for
    bytes."""

    description: str
    content: Mapping[str, Any]
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """The documentation of a route, as OpenAPI shows it."""

    tag: str
    summary: str
    answers: Mapping[int, Answer]
    description: str = ""
    errors: tuple[int, ...] = (403,)
    body: Any = None
    example: Any = field(default_factory=dict)
    """An example of a valid body."""
    request_headers: tuple[str, ...] = ()
    body_type: str = JSON
    """The body's content type."""
    query: Any = None
    """A type whose fields are the query's parameters."""


@dataclass(frozen=True, slots=True)
class Route:
    """One entry of the table. A path under `/v1` is also answered without the `/v1`."""

    method: str
    """The method in lower case, as OpenAPI writes it."""
    path: str
    access: Access
    handler: Callable[[Handlers], Handle | None]
    """Picks the method that answers; returns None if this application lacks the handler."""
    operation: Operation | None = None
    """The documentation; None for a route that isn't part of the API (the page's files)."""
    opens_socket: bool = False
    """True if the GET is the beginning of a WebSocket."""
    streams_body: bool = False
    """True if the handler reads the body itself, piece by piece, with limits of its own."""
    id_pattern: str = "[^/]+"
    """The regular expression of the ids that stand for `{id}` in the path."""
    error_form: type[ErrorAnswer] | None = None
    """The form of the route's errors; None: OpenAI's."""

    @property
    def answers_head(self) -> bool:
        """True if HEAD is answered like the GET; a GET that makes work or opens a socket has none."""
        return self.access not in (Access.LOCAL, Access.HERE) and not self.opens_socket

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that the route answers."""
        return (self.path, self.path.removeprefix("/v1")) if self.path.startswith("/v1/") else (self.path,)


def json_answer(description: str, kind: Any, headers: tuple[str, ...] = ()) -> Answer:
    """An answer of one JSON type."""
    return Answer(description, {JSON: kind}, headers)
