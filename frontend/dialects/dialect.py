"""A dialect: the protocol that one service's clients speak, declared in one object, from which its routes, their
documentation, its errors and its switch follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import FORMATS
from frontend.dialects.socket import Session, Talk, serve
from frontend.serving.errors import Error, ErrorAnswer
from frontend.serving.no_effect import note_no_effect
from frontend.serving.route import JSON, WITH_BODY, Access, Answer, Handle, Route, route_of
from frontend.speech.answer import ANSWERS, Delivery
from frontend.speech.asked import checked_text, client_of, is_fresh
from frontend.speech.framing import EVENTS
from frontend.speech.voices import asked_speech
from shm.engine_info import VoiceInfo
from text.markup.marked import MarkupKind
from text.markup.ssml import without_effect_in

FILES = tuple(dict.fromkeys(info.content_type for info in FORMATS.values()))

Pace = Annotated[float | None, Meta(description="The pace; the server's default where it is left out.")]

_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Cache", "X-Speakable")
_AUDIO = Answer("The audio, while it is made.", dict.fromkeys((*FILES, "audio/basic")), _HEADERS)
_TIMED = Answer("Audio in base64, and the times that are asked for.", {JSON: None}, _HEADERS)
_EVENTS = Answer("Server-sent events with audio in base64.", {EVENTS: None}, _HEADERS)
_UPGRADED = Answer("The WebSocket is open; a wrong address is explained on it.", {})


@dataclass(frozen=True, slots=True)
class Dialect:
    """One service's protocol over HTTP."""

    name: str
    """Its name in the setting `dialects`, and the label of its sockets in metrics and in `/status`."""
    routes: Iterable[Route]
    optional: bool = True
    """False if it is always answered."""
    asks: Callable[[web.Request], bool] = lambda _: False
    """True of a request that only its clients send. It decides about paths that several services have, and about the
    errors of paths that nobody has."""
    error: type[ErrorAnswer] = Error
    key_header: str = ""
    """The header besides `Authorization` in which its clients send their key."""
    models: Callable[[web.Request], Any] | None = None
    """Its shape of the models' list; here and below, None: the usual one (`frontend/http/catalog.py`)."""
    voices: Callable[[web.Request], Any] | None = None
    voices_query: type[msgspec.Struct] | None = None
    """The parameters of `voices`."""
    voice: Callable[[VoiceInfo], Any] | None = None


DIALECTS: web.AppKey[Sequence[Dialect]] = web.AppKey("DIALECTS")
"""All dialects, those that the settings turn off too."""

_UNKNOWN = Dialect("", ())


def asker(request: web.Request) -> Dialect:
    """The dialect whose client asks; for a client that can't be told from others, one with the usual shapes."""
    return next((dialect for dialect in request.app[DIALECTS] if dialect.asks(request)), _UNKNOWN)


def error_form_of(request: web.Request) -> type[ErrorAnswer]:
    """The form of the request's errors: its route's; where there is none, that of the service whose client asks."""
    route = route_of(request)
    return route.error_form if route else asker(request).error


@dataclass(frozen=True, slots=True)
class Post:
    """A call that is answered with a text's audio."""

    path: str
    speak: Handle
    body: Any
    example: Any
    query: type[msgspec.Struct] | None = None
    timed: bool = False
    """The answer is JSON with the audio in base64."""
    events: bool = False
    """The answer is server-sent events."""
    body_type: str = JSON
    request_headers: tuple[str, ...] = ()

    def route(self, service: str, error: type[ErrorAnswer]) -> Route:
        return Route(
            "post",
            self.path,
            Access.KEY,
            self.speak,
            "Other protocols",
            f"Speak a text, for clients of {service}",
            "Errors have the form of that service. `X-Warning` names its fields that have no effect here.",
            {200: _EVENTS if self.events else _TIMED if self.timed else _AUDIO},
            (*WITH_BODY, 500),
            self.body,
            self.example,
            self.body_type,
            self.query,
            self.request_headers,
            repeatable=True,
            error_form=error,
        )


@dataclass(frozen=True, slots=True)
class Socket:
    """A WebSocket over contexts that take text piece by piece."""

    path: str
    talk: Callable[[Session], Talk]
    messages: type[msgspec.Struct]
    """The fields that messages may have."""
    query: type[msgspec.Struct] | None = None
    access: Access = Access.KEY

    def route(self, service: str, error: type[ErrorAnswer]) -> Route:
        return Route(
            "get",
            self.path,
            self.access,
            partial(self._serve, service),
            "Other protocols",
            f"A WebSocket for clients of {service}",
            answers={101: _UPGRADED},
            errors=(400, 403, 426, 429),
            query=self.query,
            opens_socket=True,
            error_form=error,
        )

    async def _serve(self, service: str, request: web.Request) -> web.StreamResponse:
        return await serve(request, service, self.messages, self.talk)


def service(
    name: str, error: type[ErrorAnswer], *calls: Post | Socket, lists: Iterable[Route] = (), **more: Any
) -> Dialect:
    """The dialect of another service, with errors in its form.

    Args:
        lists: its other routes, which answer without speech.
        more: other fields of the `Dialect`.
    """
    routes = [call.route(name, error) for call in calls]
    return Dialect(name, [*routes, *(replace(route, error_form=error) for route in lists)], error=error, **more)


async def speak(
    request: web.Request,
    text: tuple[str, str],
    delivery: Delivery,
    voice: str | None,
    language: str | None,
    **more: Any,
) -> web.StreamResponse:
    """Answer a one-shot call.

    Args:
        text: the text, and the field that it stands in.
        voice: voice, language and `more` are those of `asked_speech`.

    Raises:
        TextError, SpeechError: nothing of the response has left yet.
    """
    answers = request.app[ANSWERS]
    spoken = checked_text(text[0], answers.settings, text[1])
    if more.get("markup") is MarkupKind.SSML:
        note_no_effect(request, without_effect_in(spoken))
    listener: dict[str, Any] = {"client": client_of(request), "fresh": is_fresh(request), "text": spoken}
    return await answers.speak(
        request,
        spoken,
        delivery,
        lambda engine: asked_speech(
            engine, answers.settings, voice, language, urgency=delivery.urgency, **listener, **more
        ),
    )
