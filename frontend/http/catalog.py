"""The lists from which clients fill their menus: models and voices. They need no key."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta
from msgspec.structs import asdict

from frontend.audio.formats import FORMATS
from frontend.contract.errors import ApiError
from frontend.dialects.all import ALL
from frontend.dialects.dialect import asker
from frontend.serving.json_body import json_response, read_query
from frontend.serving.route import Access, Routes, json_answer
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.voices import MODELS, Voice, described, usual_format, usual_voice
from shm.book_formats import BOOK_FORMATS

KOKORO_V1_PUBLISHED = 1_737_936_000
"""27 January 2025 in Unix time: the list's form demands a date of creation."""


class Model(msgspec.Struct):
    """OpenAI's shape."""

    id: str
    object: Literal["model"]
    created: Annotated[int, Meta(description="Unix time of the weights' publication.")]
    owned_by: str


class ModelList(msgspec.Struct):
    """OpenAI's shape."""

    object: Literal["list"]
    data: list[Model]


class NamedModel(msgspec.Struct):
    """Open WebUI's shape."""

    id: str
    name: str


class AudioModels(msgspec.Struct):
    """Open WebUI's shape."""

    models: list[NamedModel]


class Voices(msgspec.Struct):
    """Open WebUI's shape; with `?legacy=true` `voices` has names only."""

    voices: list[Voice | str]
    default_voice: str
    default_speed: Annotated[float, Meta(description="The pace of requests that name none.")]


class NamedVoice(Voice):
    """A voice with ElevenLabs' fields."""

    voice_id: Annotated[str, Meta(description="The id again.")]
    category: Literal["premade"]


class NamedVoices(msgspec.Struct):
    """Open WebUI's and ElevenLabs' shape."""

    voices: list[NamedVoice]


class FormatEntry(msgspec.Struct):
    """One audio format."""

    id: Annotated[str, Meta(description="The value of `response_format`, and the extension of its files.")]
    title: Annotated[str, Meta(description="A name for people.")]
    content_type: str
    sample_rates: Annotated[list[int], Meta(description="The rates that it has, in Hz; empty: any.")]


class BookFormatEntry(msgspec.Struct):
    """One format of books."""

    id: Annotated[str, Meta(description="The value of the form's `format`.")]
    title: Annotated[str, Meta(description="A name for people.")]
    content_type: str


class FormatList(msgspec.Struct):
    """The audio formats that a request can name."""

    formats: list[FormatEntry]
    default_format: str
    book_formats: Annotated[list[BookFormatEntry], Meta(description="Those of `POST /v1/jobs`, the usual one first.")]


class VoicesQuery(msgspec.Struct):
    """The query of the voices' list."""

    legacy: Annotated[bool, Meta(description="`true`: names only, as in Kokoro-FastAPI before version 0.4.")] = False


NamedVoicesQuery = msgspec.defstruct(
    "NamedVoicesQuery",
    [
        (each.name, each.type, msgspec.field(default=each.default, name=each.encode_name))
        for dialect in ALL
        if dialect.voices_query
        for each in msgspec.structs.fields(dialect.voices_query)
    ],
)
"""The query of the voices' list that several services have."""


ROUTES = Routes()


@ROUTES.add(
    "get",
    "/v1/models",
    Access.NEAR,
    "Lists",
    json_answer("All mean the one model here.", ModelList),
)
async def models(request: web.Request) -> web.Response:
    """The models, in the shape of the service whose client asks, where it has one of its own."""
    shaped = asker(request).models or _models
    return json_response(shaped(request))


def _models(_: web.Request) -> ModelList:
    return ModelList("list", [_model(name) for name in MODELS])


@ROUTES.add(
    "get",
    "/v1/models/{id}",
    Access.NEAR,
    "Lists",
    json_answer("It is known.", Model),
    errors=(403, 404),
    id_pattern=".+",  # a model's name may contain slashes
)
async def model(request: web.Request) -> web.Response:
    """One model."""
    name = request.match_info["id"]
    if name not in MODELS:
        message = f"There is no model {name[:64]!r}; there are {', '.join(MODELS)}."
        raise ApiError(404, message, param="model", code="model_not_found")
    return json_response(_model(name))


@ROUTES.add("get", "/v1/audio/models", Access.NEAR, "Lists", json_answer("The models.", AudioModels))
async def audio_models(request: web.Request) -> web.Response:
    """The models, for Open WebUI."""
    return json_response(AudioModels([NamedModel(name, name) for name in MODELS]))


@ROUTES.add("get", "/v1/audio/formats", Access.NEAR, "Lists", json_answer("The formats.", FormatList))
async def formats(request: web.Request) -> web.Response:
    """The audio formats, and those of books."""
    entries = [
        FormatEntry(name, row.title or name.upper(), row.content_type, list(row.rates)) for name, row in FORMATS.items()
    ]
    books = [BookFormatEntry(row.name, row.title, row.content_type) for row in BOOK_FORMATS.values() if row.title]
    return json_response(FormatList(entries, usual_format(request.app[SERVICES].settings), books))


@ROUTES.add(
    "get",
    "/v1/audio/voices",
    Access.NEAR,
    "Lists",
    json_answer("The voices.", Voices),
    errors=(400, 403, 503),
    query=VoicesQuery,
)
async def voices(request: web.Request) -> web.Response:
    """The voices of the engine that speaks."""
    engine = engine_asked(request)
    legacy = read_query(request.query, VoicesQuery).legacy
    found = [voice.name if legacy else described(voice, engine.name) for voice in engine.voices]
    settings = request.app[SERVICES].settings
    return json_response(Voices(found, usual_voice(engine, settings), settings.default_speed))


@ROUTES.add(
    "get",
    "/v1/voices",
    Access.NEAR,
    "Lists",
    json_answer("The voices.", NamedVoices),
    errors=(403, 503),
    query=NamedVoicesQuery,
)
async def voices_by_any_name(request: web.Request) -> web.Response:
    """The same as /v1/audio/voices, with ElevenLabs' fields besides; for other services' clients in their shape, where
    it is another."""
    shaped = asker(request).voices or _named_voices
    return json_response(shaped(request))


def _named_voices(request: web.Request) -> NamedVoices:
    engine = engine_asked(request)
    found = [asdict(described(voice, engine.name)) for voice in engine.voices]
    return NamedVoices([NamedVoice(**each, voice_id=each["id"], category="premade") for each in found])


def _model(name: str) -> Model:
    return Model(name, "model", KOKORO_V1_PUBLISHED, "kokoro-live")
