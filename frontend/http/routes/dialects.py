"""Routes of the other services' protocols. A setting turns each service's routes off."""

from __future__ import annotations

from collections.abc import Callable

from frontend.http.access.rules import Access
from frontend.http.dialects.error_forms import ErrorForm, cartesia_error, deepgram_error, elevenlabs_error
from frontend.http.dialects.handlers import Dialects
from frontend.http.routes.route import JSON, Answer, Handle, Handlers, Operation, Route
from frontend.http.routes.speech import FILES, WITH_BODY

_AUDIO = Answer("The audio, while it is made.", dict.fromkeys((*FILES, "audio/basic")), ("X-Engine", "X-Sample-Rate"))
_TIMED = Answer("Audio in base64, and times of its characters.", {JSON: None})
_UPGRADED = Answer("The WebSocket is open; a wrong address is explained on it.", {})

_VOICE = "/v1/text-to-speech/{voice}"


def _picked(service: str, pick: Callable[[Dialects], Handle]) -> Callable[[Handlers], Handle | None]:
    """The handler, unless the service is turned off."""

    def handler(handlers: Handlers) -> Handle | None:
        dialects = handlers.dialects
        return pick(dialects) if dialects and getattr(dialects.settings, service) else None

    return handler


def _socket(service: str, path: str, access: Access, pick: Callable[[Dialects], Handle], form: ErrorForm) -> Route:
    operation = Operation(
        "Other protocols", f"A WebSocket for clients of {service}", {101: _UPGRADED}, errors=(400, 403, 426, 429)
    )
    return Route("get", path, access, _picked(service, pick), operation, opens_socket=True, error_form=form)


def _post(service: str, path: str, answer: Answer, pick: Callable[[Dialects], Handle], form: ErrorForm) -> Route:
    summary = f"Speak a text, for clients of {service}"
    description = "Errors have the form of that service. Its documentation has the body's fields."
    operation = Operation("Other protocols", summary, {200: answer}, description, (*WITH_BODY, 500))
    return Route("post", path, Access.KEY, _picked(service, pick), operation, error_form=form)


def _elevenlabs() -> tuple[Route, ...]:
    service, form = "elevenlabs", elevenlabs_error
    return (
        _socket(service, f"{_VOICE}/multi-stream-input", Access.SOCKET, lambda each: each.elevenlabs_multi, form),
        _socket(service, f"{_VOICE}/stream-input", Access.SOCKET, lambda each: each.elevenlabs_single, form),
        _post(service, _VOICE, _AUDIO, lambda each: each.elevenlabs_speech, form),
        _post(service, f"{_VOICE}/stream", _AUDIO, lambda each: each.elevenlabs_speech, form),
        _post(service, f"{_VOICE}/with-timestamps", _TIMED, lambda each: each.elevenlabs_timed, form),
        _post(service, f"{_VOICE}/stream/with-timestamps", _TIMED, lambda each: each.elevenlabs_timed_stream, form),
    )


DIALECTS: tuple[Route, ...] = (
    *_elevenlabs(),
    _socket("cartesia", "/tts/websocket", Access.KEY, lambda each: each.cartesia, cartesia_error),
    _post("cartesia", "/tts/bytes", _AUDIO, lambda each: each.cartesia_bytes, cartesia_error),
    _socket("deepgram", "/v1/speak", Access.KEY, lambda each: each.deepgram, deepgram_error),
    _post("deepgram", "/v1/speak", _AUDIO, lambda each: each.deepgram_speech, deepgram_error),
)
