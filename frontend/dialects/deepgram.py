"""Deepgram: a one-shot call, and two sockets (`frontend/dialects/deepgram_sockets.py`).

Source: https://developers.deepgram.com/reference/text-to-speech
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.audio.formats import ALL_NAMES, OutputFormat, encoding_named
from frontend.dialects.deepgram_sockets import (
    Deepgram,
    DeepgramMessage,
    DeepgramSocketQuery,
    DeepgramTurnMessage,
    Turns,
)
from frontend.dialects.dialect import Post, Socket, service, speak
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_of, query_of
from frontend.serving.no_effect import no_effect_if
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing
from shm import request_id

_CONTAINERS = {"linear16": ("wav", "none"), "opus": ("ogg",), "wav": ("wav",)}
"""The containers in which the encodings come; all others come in none."""

_CONTAINER = no_effect_if(
    lambda name, query: bool(name) and name not in _CONTAINERS.get(query.encoding or "mp3", ("none",)),
    "`wav` (the default) or `none`, for linear16.",
)
_BIT_RATE = no_effect_if(lambda _, query: not _output_of(query).has_bit_rate, "Bits per second of mp3, opus and aac.")


class DeepgramQuery(DeepgramSocketQuery):
    """The parameters of Deepgram's POST call."""

    encoding: Annotated[str, Meta(description=f"`mp3`, the default, or another of {', '.join(ALL_NAMES)}.")] = ""
    container: Annotated[str, _CONTAINER] = ""
    bit_rate: Annotated[int | None, _BIT_RATE] = None


class DeepgramBody(msgspec.Struct):
    """The body of Deepgram's POST call."""

    text: Annotated[str | None, Meta(description="The text to speak.")] = None


class DeepgramError(ErrorAnswer):
    """An error in Deepgram's shape."""

    err_code: Annotated[str | None, Meta(description="The reason for programs; it doesn't change.")]
    err_msg: Annotated[str, Meta(description="The error, and a remedy.")]
    request_id: Annotated[str, Meta(description="The answer's `X-Request-Id`.")]

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> DeepgramError:
        return cls(detail.code, detail.message, request_id.current.get())


def _models(request: web.Request) -> dict[str, list[dict[str, Any]]]:
    """The models in Deepgram's shape: the voices, one a model; nothing is recognised here."""
    engine = engine_asked(request)
    return {
        "stt": [],
        "tts": [
            {
                "name": voice.title.lower() or voice.name,
                "canonical_name": voice.name,
                "architecture": engine.name,
                "languages": [voice.language],
                "version": engine.model,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{engine.model_sha256}/{voice.name}")),
                "metadata": {"accent": voice.language, "tags": [voice.gender] if voice.gender else []},
            }
            for voice in engine.voices
        ],
    }


async def _speech(request: web.Request) -> web.StreamResponse:
    """POST /v1/speak. MP3 unless the address names an encoding; linear16 in a WAV unless it says `none`."""
    body = await fields_of(request, DeepgramBody)
    query = query_of(request, DeepgramQuery)
    output = _output_of(query, request.app[SERVICES].settings.default_format)
    delivery = Delivery(output, Framing(output.content_type))
    return await speak(request, (body.text or "", "text"), delivery, query.model, None, speed=query.speed)


def _output_of(query: DeepgramQuery, usual: str = "") -> OutputFormat:
    encoding = query.encoding or usual or "mp3"
    if encoding == "linear16" and query.container in ("", "wav"):
        encoding = "wav"
    return encoding_named(encoding, query.sample_rate, query.bit_rate)


DIALECT = service(
    "deepgram",
    DeepgramError,
    Socket("/v1/speak", Deepgram, DeepgramMessage, DeepgramSocketQuery),
    Socket("/v2/speak", Turns, DeepgramTurnMessage, DeepgramSocketQuery),
    Post("/v1/speak", _speech, DeepgramBody, {"text": "Hello."}, DeepgramQuery),
    Post("/v2/speak", _speech, DeepgramBody, {"text": "Hello."}, DeepgramQuery),
    asks=lambda request: request.headers.get(hdrs.AUTHORIZATION, "").lower().startswith("token "),
    models=_models,
)
