"""The list of all dialects over HTTP: another one is a file, and an entry here."""

from __future__ import annotations

from aiohttp import web

from frontend.dialects.askers import Service, service_of
from frontend.dialects.cartesia import CARTESIA, CartesiaError
from frontend.dialects.deepgram import DEEPGRAM, DeepgramError
from frontend.dialects.dialect import Dialect
from frontend.dialects.elevenlabs import ELEVENLABS, ElevenLabsError
from frontend.dialects.kokoro_fastapi import KOKORO_FASTAPI
from frontend.dialects.openai import OPENAI
from frontend.serving.errors import Error, ErrorAnswer
from frontend.serving.route import route_of
from frontend.settings.front import FrontSettings

DIALECTS: tuple[Dialect, ...] = (OPENAI, KOKORO_FASTAPI, ELEVENLABS, CARTESIA, DEEPGRAM)


_FORMS: dict[Service, type[ErrorAnswer]] = {
    "elevenlabs": ElevenLabsError,
    "cartesia": CartesiaError,
    "deepgram": DeepgramError,
    "openai": Error,
}


def error_form_of(request: web.Request) -> type[ErrorAnswer]:
    """The form of the request's errors: its route's; where there is none, that of the service whose client asks."""
    route = route_of(request)
    return route.error_form if route else _FORMS[service_of(request)]


def served(settings: FrontSettings) -> list[Dialect]:
    """The dialects that the settings don't turn off."""
    return [dialect for dialect in DIALECTS if not dialect.optional or settings.answers_dialect(dialect.name)]
