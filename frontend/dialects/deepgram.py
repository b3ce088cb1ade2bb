"""Deepgram: a one-shot call, and a socket with one text, binary audio, and messages for flushes.

Source: https://developers.deepgram.com/docs/tts-websocket
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.audio.formats import ALL_NAMES, OutputFormat, encoding_named
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.dialects.dialect import Post, Socket, listener_of, service, speak
from frontend.dialects.socket import Session, Talk
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_in, fields_of, query_of, read_query
from frontend.serving.no_effect import no_effect_if
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing
from frontend.speech.voices import asked_speech
from shm import request_id
from text.errors import TextError

ENCODINGS = ("linear16", "mulaw", "alaw")
"""The encodings of the socket; the one-shot call has more."""

_CONTAINERS = {"linear16": ("wav", "none"), "opus": ("ogg",), "wav": ("wav",)}
"""The containers in which the encodings come; all others come in none."""

_MODEL = Meta(description="The voice.")
_RATE = Meta(description="In Hz; 24000, or 8000 for mulaw and alaw, where it is left out.")
_SPEED = Meta(description="1 where it is left out.")
_CONTAINER = no_effect_if(
    lambda name, query: bool(name) and name not in _CONTAINERS.get(query.encoding or "mp3", ("none",)),
    "`wav` (the default) or `none`, for linear16.",
)
_BIT_RATE = no_effect_if(lambda _, query: not _output_of(query).has_bit_rate, "Bits per second of mp3, opus and aac.")


class DeepgramSocketQuery(msgspec.Struct):
    """The parameters of Deepgram's socket."""

    model: Annotated[str, _MODEL] = ""
    encoding: Annotated[str, Meta(description="`linear16` (the default), `mulaw` or `alaw`.")] = ""
    sample_rate: Annotated[int | None, _RATE] = None
    speed: Annotated[float | None, _SPEED] = None


class DeepgramQuery(msgspec.Struct):
    """The parameters of Deepgram's POST call."""

    model: Annotated[str, _MODEL] = ""
    encoding: Annotated[str, Meta(description=f"`mp3`, the default, or another of {', '.join(ALL_NAMES)}.")] = ""
    sample_rate: Annotated[int | None, _RATE] = None
    speed: Annotated[float | None, _SPEED] = None
    container: Annotated[str, _CONTAINER] = ""
    bit_rate: Annotated[int | None, _BIT_RATE] = None


class DeepgramBody(msgspec.Struct):
    """The body of Deepgram's POST call."""

    text: Annotated[str | None, Meta(description="The text to speak.")] = None


class DeepgramMessage(msgspec.Struct):
    """A message on Deepgram's socket."""

    type: str | None = None
    text: str | None = None


class DeepgramError(ErrorAnswer):
    """An error in Deepgram's shape."""

    err_code: Annotated[str | None, Meta(description="The reason for programs; it doesn't change.")]
    err_msg: Annotated[str, Meta(description="The error, and a remedy.")]
    request_id: Annotated[str, Meta(description="The answer's `X-Request-Id`.")]

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> DeepgramError:
        return cls(detail.code, detail.message, request_id.current.get())


class Deepgram(Talk):
    idle_seconds = 3600.0

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked: SpeechRequest | None = None
        self._output = OutputFormat()
        self._texts = 0
        """Number of the text in hand; after a Clear, or after an error, another one begins."""
        self._sequence = 0
        """Flushes and clears that were answered."""

    def begin(self) -> None:
        """Check the address, and greet.

        Raises:
            ApiError, Unavailable: voice or encoding are none of the server's.
        """
        request = self._session.request
        query = read_query(request.query, DeepgramSocketQuery)
        encoding = query.encoding or ENCODINGS[0]
        if encoding not in ENCODINGS:
            message = f"`encoding`: {encoding[:32]!r} is none of {', '.join(ENCODINGS)}."
            raise ApiError(400, message, param="encoding", code="invalid_encoding")
        self._output = encoding_named(encoding, query.sample_rate)
        services = self._session.services
        engine, speed = engine_asked(self._session.request), query.speed
        self._asked = asked_speech(engine, services.settings, query.model, None, speed=speed, **listener_of(request))
        self._session.send(
            {
                "type": "Metadata",
                "request_id": self._asked.request_id,
                "model_name": query.model,
                "model_version": engine.model,
                "model_uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, engine.model_sha256)),
            }
        )

    def hear(self, message: Mapping[str, Any]) -> None:
        fields = fields_in(message, DeepgramMessage)
        context = self._session.contexts.get(str(self._texts))
        match fields.type or "":
            case "Speak":
                self._write(context, fields.text or "")
            case "Flush" if context is not None:
                self._flush(context)
            case "Flush":
                self._answer("Flushed")
            case "Clear":
                self._session.contexts.drop(str(self._texts))
                self._answer("Cleared")
            case "Close":
                self._session.finish()
            case other:
                self.warn(f"Messages of the type {other[:32]!r} are not known.", "UNKNOWN_MESSAGE")

    def _write(self, context: Context | None, text: str) -> None:
        if context is None:
            if not text.strip():
                return
            self._texts += 1
            context = self.open(str(self._texts), {})
        try:
            context.write(text)
        except TextError as error:
            self.warn(error.message, error.code or "")

    def open(self, key: str, message: Mapping[str, Any]) -> Context:
        assert self._asked is not None  # `begin` came first
        return self._session.contexts.open(key, self._asked, self._output)

    @property
    def state(self) -> Sequence[int]:
        return [self._texts, self._sequence]

    @state.setter
    def state(self, state: Sequence[int]) -> None:
        self._texts, self._sequence = state

    def _flush(self, context: Context) -> None:
        """Flush, and leave out held text that is refused: every flush is answered."""
        try:
            context.flush()
        except TextError as error:
            self.warn(error.message, error.code or "")
            context.flush()

    def tell(self, key: str, context: Context, event: Event) -> None:
        if isinstance(event, Flushed):
            self._answer("Flushed")
        elif event.audio:
            self._session.send_bytes(event.audio)

    def error(self, key: str | None, detail: ErrorDetail, status: int) -> dict[str, Any]:
        return {"type": "Error", "description": detail.message, "err_msg": detail.message, "code": detail.code}

    def _answer(self, kind: str) -> None:
        self._session.send({"type": kind, "sequence_id": self._sequence})
        self._sequence += 1

    def warn(self, message: str, code: str) -> None:
        """Clients read one field or the other."""
        self._session.send({"type": "Warning", "description": message, "warn_msg": message, "code": code})


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
    Post("/v1/speak", _speech, DeepgramBody, {"text": "Hello."}, DeepgramQuery),
    Post("/v2/speak", _speech, DeepgramBody, {"text": "Hello."}, DeepgramQuery),
    asks=lambda request: request.headers.get(hdrs.AUTHORIZATION, "").lower().startswith("token "),
    models=_models,
)
