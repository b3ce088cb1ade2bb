"""Cartesia: a one-shot call, and a socket with contexts by `context_id`, raw audio in JSON, word times in seconds.

Source: https://docs.cartesia.ai/api-reference/tts/websocket
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import OutputFormat, encoding_named
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import Pace, Post, Socket, service, speak
from frontend.dialects.socket import Session, Talk
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_in, fields_of
from frontend.serving.no_effect import no_effect_if, note_no_effect
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import Delivery
from frontend.speech.framing import EVENTS, Framing
from frontend.speech.manner import MannerOfSpeaking, followed_manner
from frontend.speech.voices import MODEL_WORDS, usual_output
from shm import request_id
from shm.engine_info import EngineInfo, VoiceInfo
from shm.timing import WordTiming
from text.errors import TextError
from text.words.language import locale_of

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

    speed: Pace = None
    volume: Annotated[float | None, Meta(description="A factor on the level; 1 where it is left out.")] = None
    emotion: Annotated[str | list[str] | None, Meta(description="Words such as excited or calm.")] = None


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
    generation_config: Annotated[
        CartesiaGeneration | None, Meta(description="`speed`, `volume` and `emotion` have an effect.")
    ] = None
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


class CartesiaEventsBody(CartesiaBody):
    """The body of Cartesia's call for events."""

    context_id: Annotated[str | None, Meta(description="A name, which the events repeat.")] = None
    add_timestamps: Annotated[bool | None, Meta(description="`true`: events with the times of words come too.")] = None


class CartesiaVoiceEntry(msgspec.Struct):
    """A voice in Cartesia's shape."""

    id: str
    name: str
    tagline: str
    description: str
    language: str
    gender: str | None
    locales: list[dict[str, Any]]
    created_at: str = "2025-01-27T00:00:00Z"
    access: str = "public"
    visibility: str = "all"
    is_owner: bool = False
    is_public: bool = True


class CartesiaVoicesQuery(msgspec.Struct):
    """The query of Cartesia's list of voices."""

    limit: Annotated[str, Meta(description="The most voices.")] = ""
    starting_after: Annotated[str, Meta(description="The voice before the first one.")] = ""


class CartesiaVoices(msgspec.Struct):
    """Voices in Cartesia's shape."""

    data: list[CartesiaVoiceEntry]
    has_more: bool


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
    idle_seconds = 300.0

    def __init__(self, session: Session) -> None:
        super().__init__(session)
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
            context = self.open(key, message)
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

    def place(self, key: str) -> tuple[int, list[int]]:
        return 0, [self._flush_ids[key]] if key in self._flush_ids else []

    def resume(self, key: str, numbers: list[int]) -> None:
        self._heard_at[key] = time.monotonic()
        if numbers:
            self._flush_ids[key] = numbers[0]

    def open(self, key: str, message: CartesiaMessage) -> Context:
        delay = message.max_buffer_delay_ms
        delay = DEFAULT_DELAY_MS if delay is None else min(max(delay, 0.0), LONGEST_DELAY_MS)
        output = _output_of(message.output_format)
        manner = _manner_of(message, engine_asked(self._session.request))[0]
        more: dict[str, Any] = {"speed": _speed_of(message), "timestamps": bool(message.add_timestamps)}
        voice, language = _voice_of(message), message.language or None
        asked = self._session.asked(voice, language, context=key, manner=manner, **more)
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
            self._send(key, "timestamps", 206, done=False, word_timestamps=_times_of(event.words))
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


def _times_of(words: Sequence[WordTiming]) -> dict[str, Any]:
    return {
        "words": [word.word for word in words],
        "start": [word.start for word in words],
        "end": [word.end for word in words],
    }


async def _speech(request: web.Request) -> web.StreamResponse:
    """POST /tts/bytes."""
    body = await fields_of(request, CartesiaBody)
    usual = usual_output(request.app[SERVICES].settings) if body.output_format is None else None
    output = usual or _output_of(body.output_format)
    return await _speak(request, body, Delivery(output, Framing(output.content_type)))


async def _speak(request: web.Request, body: CartesiaBody, delivery: Delivery, **more: Any) -> web.StreamResponse:
    manner, dead = _manner_of(body, engine_asked(request))
    note_no_effect(request, dead)
    text, language = (body.transcript or "", "transcript"), body.language or None
    return await speak(request, text, delivery, _voice_of(body), language, speed=_speed_of(body), manner=manner, **more)


def _manner_of(body: CartesiaBody, engine: EngineInfo) -> tuple[MannerOfSpeaking, list[str]]:
    """The manner of speaking that a message asks for, and what of it has no effect."""
    asked = body.generation_config or CartesiaGeneration()
    return followed_manner(asked.emotion, "generation_config.emotion", engine, asked.volume)


class CartesiaEvents(Framing):
    """Server-sent events in the shape of the socket's messages."""

    bare = False

    def __init__(self, context_id: str | None) -> None:
        super().__init__(EVENTS)
        self._context_id = context_id
        self._began = time.monotonic()

    def audio(self, audio: bytes, seconds: float) -> bytes:
        took = round((time.monotonic() - self._began) * 1000, 3)
        return self._event("chunk", 206, done=False, data=base64.b64encode(audio).decode(), step_time=took)

    def words(self, words: Sequence[WordTiming]) -> bytes:
        return self._event("timestamps", 206, done=False, word_timestamps=_times_of(words)) if words else b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        return self._event("done", 200, done=True)

    def error(self, detail: ErrorDetail) -> bytes:
        names = {"title": _TITLE, "message": detail.message, "error_code": detail.code}
        return self._event("error", 500, done=True, request_id=request_id.current.get(), **names)

    def _event(self, kind: str, status: int, **fields: Any) -> bytes:
        event = {"type": kind, "status_code": status, "context_id": self._context_id, **fields}
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode(event))


async def _events(request: web.Request) -> web.StreamResponse:
    """POST /tts/sse."""
    body = await fields_of(request, CartesiaEventsBody)
    delivery = Delivery(_output_of(body.output_format), CartesiaEvents(body.context_id))
    return await _speak(request, body, delivery, timestamps=bool(body.add_timestamps))


def _voice(voice: VoiceInfo) -> CartesiaVoiceEntry:
    language, locale = voice.language.partition("-")[0], locale_of(voice.language)
    tagline = " ".join(filter(None, (locale, voice.gender)))
    gender = {"female": "feminine", "male": "masculine"}.get(voice.gender or "")
    title = voice.title or voice.name
    return CartesiaVoiceEntry(
        voice.name, title, tagline, f"{title}, {tagline}", language, gender, [{"locale": locale, "is_native": True}]
    )


def _voices(request: web.Request) -> CartesiaVoices:
    """All voices after the one that the query names in `starting_after`, up to `limit`."""
    entries = [_voice(voice) for voice in engine_asked(request).voices]
    after, limit = request.query.get("starting_after", ""), request.query.get("limit", "")
    names = [entry.id for entry in entries]
    rest = entries[names.index(after) + 1 :] if after in names else entries
    page = rest[: int(limit)] if limit.isdecimal() else rest
    return CartesiaVoices(page, len(page) < len(rest))


def _output_of(wanted: CartesiaOutput | None) -> OutputFormat:
    wanted = wanted or CartesiaOutput()
    container, encoding = wanted.container or "raw", wanted.encoding or "pcm_s16le"
    if container == "wav":
        container = {"pcm_s16le": "wav", "pcm_f32le": "wav_f32le"}.get(encoding, f"wav with {encoding}")
    if container not in ("raw", "wav", "wav_f32le", "mp3"):
        message = f"`output_format`: {container} is not made here: raw, wav of pcm_s16le or pcm_f32le, or mp3."
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

DIALECT = service(
    "cartesia",
    CartesiaError,
    Socket("/tts/websocket", Cartesia, CartesiaMessage),
    Post("/tts/bytes", _speech, CartesiaBody, _EXAMPLE),
    Post("/tts/sse", _events, CartesiaEventsBody, _EXAMPLE | {"output_format": {"container": "raw"}}, events=True),
    asks=lambda request: "Cartesia-Version" in request.headers,
    key_header="X-API-Key",
    voices=_voices,
    voices_query=CartesiaVoicesQuery,
    voice=_voice,
)
