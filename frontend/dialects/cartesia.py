"""Cartesia: a one-shot call, and a socket with contexts by `context_id`, raw audio in JSON, word times in seconds.

Source: https://docs.cartesia.ai/api-reference/tts/websocket
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import OutputFormat, encoding_named
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed
from frontend.contexts.services import SERVICES
from frontend.contract.errors import ApiError
from frontend.contract.speaker import engine_in_use
from frontend.dialects.dialect import Post, Socket, listener_of, service, speak
from frontend.dialects.socket import Session, Talk
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_in, fields_of
from frontend.serving.no_effect import no_effect_if
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing
from frontend.speech.voices import MODEL_WORDS, asked_speech, usual_output
from shm import request_id
from text.errors import TextError

DEFAULT_DELAY_MS, LONGEST_DELAY_MS = 3000.0, 5000.0

SPEEDS = {"slowest": 0.6, "slow": 0.8, "normal": 1.0, "fast": 1.2, "fastest": 1.5}
"""The older API's names of speeds."""


_BIT_RATE = no_effect_if(lambda _, output: not _output_of(output).has_bit_rate, "Bits per second of mp3.")


class CartesiaVoice(msgspec.Struct):
    """`voice`, where it isn't a name."""

    id: Annotated[str | None, Meta(description="The voice's name.")] = None
    mode: Annotated[str | None, no_effect_if(lambda mode, _: mode != "id", "`id`.")] = None


class CartesiaOutput(msgspec.Struct):
    """`output_format`."""

    container: Annotated[str | None, Meta(description="`raw` (the default), `wav` or `mp3`.")] = None
    encoding: Annotated[
        str | None,
        no_effect_if(
            lambda encoding, output: output.container == "mp3" and encoding != "mp3",
            "The encoding of `raw`: pcm_s16le (the default), pcm_f32le, pcm_mulaw, pcm_alaw.",
        ),
    ] = None
    sample_rate: Annotated[
        float | None, Meta(description="In Hz; 24000, or 8000 for mulaw and alaw, where it is left out.")
    ] = None
    bit_rate: Annotated[float | None, _BIT_RATE] = None


class CartesiaGeneration(msgspec.Struct):
    """`generation_config`."""

    speed: Annotated[float | None, Meta(description="1 where it is left out.")] = None


class CartesiaBody(msgspec.Struct):
    """The body of Cartesia's POST call."""

    transcript: Annotated[str | None, Meta(description="The text to speak.")] = None
    voice: Annotated[
        CartesiaVoice | str | None, Meta(description='A voice as `{"mode": "id", "id": "af_heart"}`, or its name.')
    ] = None
    model_id: Annotated[str | None, MODEL_WORDS] = None
    output_format: Annotated[
        CartesiaOutput | None, Meta(description="Bare samples of 16 bits at 24 kHz where it is left out.")
    ] = None
    language: Annotated[str | None, Meta(description="The text's language; the voice's own where it is left out.")] = (
        None
    )
    generation_config: Annotated[CartesiaGeneration | None, Meta(description="`speed` has an effect.")] = None
    speed: Annotated[
        str | float | None,
        no_effect_if(
            lambda _, body: body.generation_config is not None and body.generation_config.speed is not None,
            "A factor, or slowest, slow, normal, fast or fastest; `generation_config` wins.",
        ),
    ] = None


class CartesiaMessage(CartesiaBody):
    """A message on Cartesia's socket."""

    context_id: str | None = None
    goes_on: bool | None = msgspec.field(default=None, name="continue")
    cancel: bool | None = None
    flush: bool | None = None
    add_timestamps: bool | None = None
    max_buffer_delay_ms: float | None = None


class CartesiaError(ErrorAnswer):
    """An error in Cartesia's shape."""

    title: str
    message: Annotated[str, Meta(description="The error, and a remedy.")]
    error_code: Annotated[str | None, Meta(description="The same reason for programs; it doesn't change.")]
    status_code: Annotated[int, Meta(description="The answer's status.")]
    request_id: Annotated[str, Meta(description="The answer's `X-Request-Id`.")]

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> CartesiaError:
        return cls(_TITLE, detail.message, detail.code, status, request_id.current.get())


_TITLE = "The request failed"


class Cartesia(Talk):
    """One socket."""

    idle_seconds = 300.0

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heard_at: dict[str, float] = {}
        self._flush_ids: dict[str, int] = {}

    def hear(self, message: Mapping[str, Any]) -> None:
        """An error of a context leaves the socket open."""
        named = message.get("context_id")
        key = named if isinstance(named, str) and named else str(uuid.uuid4())
        try:
            self._follow(key, fields_in(message, CartesiaMessage))
        except TextError as error:
            self._session.contexts.drop(key, remember=False)
            self._session.fail(key, error)

    def _follow(self, key: str, message: CartesiaMessage) -> None:
        if message.cancel:
            if self._session.contexts.get(key):
                self._session.contexts.drop(key, remember=False)
                self.ended(key)
            return
        text = message.transcript or ""
        context = self._session.contexts.get(key)
        if context is None:
            if not (text.strip() or message.goes_on):
                self.ended(key)
                return
            context = self._opened(key, message)
        elif context.finished and text.strip():
            raise ApiError(
                400, f"The context {key[:64]!r} takes no more text.", param="context_id", code="context_closed"
            )
        self._heard_at.setdefault(key, time.monotonic())
        context.write(text)
        if message.flush:
            context.flush()
        elif context.patience == 0:
            context.flush(report=False)
        if not message.goes_on:
            context.finish()

    def open(self, key: str, message: Mapping[str, Any]) -> Context:
        return self._opened(key, fields_in(message, CartesiaMessage))

    def place(self, key: str) -> tuple[int, list[int]]:
        return 0, [self._flush_ids[key]] if key in self._flush_ids else []

    def resume(self, key: str, numbers: list[int]) -> None:
        self._heard_at[key] = time.monotonic()
        if numbers:
            self._flush_ids[key] = numbers[0]

    def _opened(self, key: str, message: CartesiaMessage) -> Context:
        delay = message.max_buffer_delay_ms
        delay = DEFAULT_DELAY_MS if delay is None else min(max(delay, 0.0), LONGEST_DELAY_MS)
        output = _output_of(message.output_format)
        asked = asked_speech(
            engine_in_use(self._session.services.speaker),
            self._session.services.settings,
            _voice_of(message),
            message.language or None,
            speed=_speed_of(message),
            timestamps=bool(message.add_timestamps),
            **listener_of(self._session.request, key),
        )
        for known in (self._heard_at, self._flush_ids):
            known.pop(key, None)
            for name in [each for each in known if not self._session.contexts.get(each)]:
                del known[name]
        return self._session.contexts.open(key, asked, output, patience=delay / 1000)

    def tell(self, key: str, context: Context, event: Event) -> None:
        if isinstance(event, Flushed):
            self._flush_ids[key] = event.number
            self._send(key, "flush_done", 206, done=False, flush_done=True, flush_id=event.number)
            return
        if event.words:
            words = {
                "words": [word.word for word in event.words],
                "start": [word.start for word in event.words],
                "end": [word.end for word in event.words],
            }
            self._send(key, "timestamps", 206, done=False, word_timestamps=words)
        if event.audio:
            audio = base64.b64encode(event.audio).decode()
            took = (time.monotonic() - self._heard_at.get(key, time.monotonic())) * 1000
            flush = {"flush_id": self._flush_ids[key]} if key in self._flush_ids else {}
            self._send(key, "chunk", 206, done=False, data=audio, step_time=round(took, 3), **flush)

    def ended(self, key: str) -> None:
        self._heard_at.pop(key, None)
        self._flush_ids.pop(key, None)
        self._send(key, "done", 200, done=True)

    def error(self, key: str | None, detail: ErrorDetail, status: int) -> dict[str, Any]:
        text = {"title": _TITLE, "message": detail.message, "error": detail.message}
        code = {"error_code": detail.code, "status_code": status}
        return {"type": "error", "done": True, **text, **code, "context_id": key}

    def _send(self, key: str, kind: str, status: int, **fields: Any) -> None:
        self._session.send({"type": kind, "status_code": status, "context_id": key, **fields})


async def _speech(request: web.Request) -> web.StreamResponse:
    """POST /tts/bytes."""
    body = await fields_of(request, CartesiaBody)
    usual = usual_output(request.app[SERVICES].settings) if body.output_format is None else None
    output = usual or _output_of(body.output_format)
    return await speak(
        request,
        (body.transcript or "", "transcript"),
        Delivery(output, Framing(output.content_type)),
        _voice_of(body),
        body.language or None,
        speed=_speed_of(body),
    )


def _output_of(wanted: CartesiaOutput | None) -> OutputFormat:
    wanted = wanted or CartesiaOutput()
    container, encoding = wanted.container or "raw", wanted.encoding or "pcm_s16le"
    if container not in ("raw", "wav", "mp3") or (container == "wav" and encoding != "pcm_s16le"):
        message = f"`output_format`: {container} with {encoding} is not made here: raw, wav of pcm_s16le, or mp3."
        raise ApiError(400, message, param="output_format", code="invalid_output_format")
    return encoding_named(encoding if container == "raw" else container, wanted.sample_rate, wanted.bit_rate)


def _speed_of(body: CartesiaBody) -> float | None:
    if body.generation_config and body.generation_config.speed is not None:
        return body.generation_config.speed
    if not isinstance(body.speed, str):
        return body.speed
    if body.speed not in SPEEDS:
        raise ApiError(400, f"`speed` is none of {', '.join(SPEEDS)}.", param="speed", code="invalid_value")
    return SPEEDS[body.speed]


def _voice_of(body: CartesiaBody) -> str:
    """The voice that a message names; empty, for the default one, where it names none."""
    return (body.voice.id if isinstance(body.voice, CartesiaVoice) else body.voice) or ""


_EXAMPLE = {"transcript": "Hello.", "voice": {"mode": "id", "id": "af_heart"}, "output_format": {"container": "mp3"}}

CARTESIA = service(
    "cartesia",
    CartesiaError,
    Socket("/tts/websocket", Cartesia, CartesiaMessage),
    Post("/tts/bytes", _speech, CartesiaBody, _EXAMPLE),
)
