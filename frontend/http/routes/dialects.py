"""Routes of the other services' protocols. A setting turns each service's routes off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from frontend.http.access.rules import Access
from frontend.http.dialects import fields
from frontend.http.dialects.error_forms import ErrorForm, cartesia_error, deepgram_error, elevenlabs_error
from frontend.http.dialects.handlers import Dialects
from frontend.http.routes.route import JSON, Answer, Handle, Handlers, Operation, Route
from frontend.http.routes.speech import FILES, WITH_BODY

_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Speakable")
_AUDIO = Answer("The audio, while it is made.", dict.fromkeys((*FILES, "audio/basic")), _HEADERS)
_TIMED = Answer("Audio in base64, and times of its characters.", {JSON: None}, _HEADERS)
_UPGRADED = Answer("The WebSocket is open; a wrong address is explained on it.", {})

_VOICE = "/v1/text-to-speech/{voice}"


def _picked(service: str, pick: Callable[[Dialects], Handle]) -> Callable[[Handlers], Handle | None]:
    """The handler, unless the service is turned off."""

    def handler(handlers: Handlers) -> Handle | None:
        dialects = handlers.dialects
        return pick(dialects) if dialects and getattr(dialects.settings, service) else None

    return handler


@dataclass(frozen=True)
class _Service:
    """One service, with the types of its calls' fields. A call's query is None where it has no parameters."""

    name: str
    error_form: ErrorForm
    body: type[msgspec.Struct]
    example: Mapping[str, Any]
    query: type[msgspec.Struct] | None
    socket_query: type[msgspec.Struct] | None

    def socket(self, path: str, access: Access, pick: Callable[[Dialects], Handle]) -> Route:
        operation = Operation(
            "Other protocols",
            f"A WebSocket for clients of {self.name}",
            {101: _UPGRADED},
            errors=(400, 403, 426, 429),
            query=self.socket_query,
        )
        handler = _picked(self.name, pick)
        return Route("get", path, access, handler, operation, opens_socket=True, error_form=self.error_form)

    def post(self, path: str, answer: Answer, pick: Callable[[Dialects], Handle]) -> Route:
        operation = Operation(
            "Other protocols",
            f"Speak a text, for clients of {self.name}",
            {200: answer},
            "Errors have the form of that service. `X-Warning` names its fields that have no effect here.",
            (*WITH_BODY, 500),
            self.body,
            self.example,
            query=self.query,
        )
        return Route("post", path, Access.KEY, _picked(self.name, pick), operation, error_form=self.error_form)


_ELEVENLABS = _Service(
    "elevenlabs",
    elevenlabs_error,
    fields.ElevenLabsBody,
    {"text": "Hello.", "model_id": "kokoro"},
    fields.ElevenLabsQuery,
    fields.ElevenLabsSocketQuery,
)
_CARTESIA = _Service(
    "cartesia",
    cartesia_error,
    fields.CartesiaBody,
    {"transcript": "Hello.", "voice": {"mode": "id", "id": "af_heart"}, "output_format": {"container": "mp3"}},
    None,
    None,
)
_DEEPGRAM = _Service(
    "deepgram",
    deepgram_error,
    fields.DeepgramBody,
    {"text": "Hello."},
    fields.DeepgramQuery,
    fields.DeepgramSocketQuery,
)

DIALECTS: tuple[Route, ...] = (
    _ELEVENLABS.socket(f"{_VOICE}/multi-stream-input", Access.SOCKET, lambda each: each.elevenlabs_multi),
    _ELEVENLABS.socket(f"{_VOICE}/stream-input", Access.SOCKET, lambda each: each.elevenlabs_single),
    _ELEVENLABS.post(_VOICE, _AUDIO, lambda each: each.elevenlabs_speech),
    _ELEVENLABS.post(f"{_VOICE}/stream", _AUDIO, lambda each: each.elevenlabs_speech),
    _ELEVENLABS.post(f"{_VOICE}/with-timestamps", _TIMED, lambda each: each.elevenlabs_timed),
    _ELEVENLABS.post(f"{_VOICE}/stream/with-timestamps", _TIMED, lambda each: each.elevenlabs_timed_stream),
    _CARTESIA.socket("/tts/websocket", Access.KEY, lambda each: each.cartesia),
    _CARTESIA.post("/tts/bytes", _AUDIO, lambda each: each.cartesia_bytes),
    _DEEPGRAM.socket("/v1/speak", Access.KEY, lambda each: each.deepgram),
    _DEEPGRAM.post("/v1/speak", _AUDIO, lambda each: each.deepgram_speech),
)
