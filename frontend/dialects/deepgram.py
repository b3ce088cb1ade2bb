"""Deepgram: a one-shot call, a socket of flushes, and one of turns: texts between flushes, told at begin and end.

Sources: https://developers.deepgram.com/reference/text-to-speech, https://developers.deepgram.com/docs/tts-websocket,
https://developers.deepgram.com/docs/flux-tts/state, and the messages of its SDK.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.audio.formats import ALL_NAMES, OutputFormat, encoding_named
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import Pace, Post, Socket, service, speak
from frontend.dialects.socket import Session, Talk
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_in, fields_of, query_of, read_query
from frontend.serving.no_effect import no_effect_if
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing
from frontend.speech.voices import checked_speed
from shm import request_id
from text.errors import TextError

ENCODINGS = ("linear16", "mulaw", "alaw")
"""The sockets' encodings; the one-shot call has more."""


class DeepgramSocketQuery(msgspec.Struct):
    """The parameters of Deepgram's socket."""

    model: Annotated[str, Meta(description="The voice.")] = ""
    encoding: Annotated[str, Meta(description="`linear16` (the default), `mulaw` or `alaw`.")] = ""
    sample_rate: Annotated[int | None, Meta(description="In Hz; 24000, or 8000 for mulaw and alaw, without it.")] = None
    speed: Pace = None


class DeepgramMessage(msgspec.Struct):
    """A message on Deepgram's socket."""

    type: str | None = None
    text: str | None = None


class DeepgramOffset(msgspec.Struct):
    """A place in a socket's audio, in milliseconds."""

    value: int
    type: str = "time_ms"


class DeepgramTurnMessage(DeepgramMessage):
    """A message on Deepgram's socket of turns."""

    speed: float | None = None
    playback_offset: DeepgramOffset | None = None


class _Place(msgspec.Struct):
    """The numbers of a socket that outlive its front; all but two are for turns."""

    texts: int = 0
    """Number of the text in hand; after a Clear, or after an error, another one begins."""
    sequence: int = 0
    """Flushes and clears that were answered; on the socket of turns, the latest turn's number."""
    writing: int = 0
    """1 while the latest turn is being written."""
    characters: int = 0
    """Number of the characters of all turns."""
    pace: int = 0
    """Pace of the context in hand, in hundredths; 0: the address's."""
    next_pace: int = 0
    now: int = 0
    """Milliseconds of the socket's audio, less what an interruption has taken back."""
    before: int = 0
    """Those before the context in hand."""
    played: int = 0
    """Those that were played before the latest interruption."""


class Deepgram(Talk):
    idle_seconds = 3600.0
    _greeting = "Metadata"
    _times_words = False
    state: _Place

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.state = _Place()

    def begin(self) -> None:
        query = read_query(self._session.request.query, DeepgramSocketQuery)
        self.output = encoding_named(query.encoding or ENCODINGS[0], query.sample_rate, known=ENCODINGS)
        self.asked = self._session.asked(query.model, None, speed=query.speed, timestamps=self._times_words)
        engine = engine_asked(self._session.request)
        model = str(uuid.uuid5(uuid.NAMESPACE_URL, engine.model_sha256))
        named = {"request_id": self.asked.request_id, "model_name": query.model, "model_version": engine.model}
        self._session.send({"type": self._greeting, **named, "model_uuid": model, "model_uuids": [model]})

    def hear(self, message: Mapping[str, Any]) -> None:
        fields = fields_in(message, DeepgramMessage)
        context = self._session.contexts.get(str(self.state.texts))
        match fields.type or "":
            case "Speak":
                self._write(context, fields.text or "")
            case "Flush" if context is not None:
                self._flush(context)
            case "Flush":
                self._answer("Flushed")
            case "Clear":
                self._session.contexts.drop(str(self.state.texts))
                self._answer("Cleared")
            case "Close":
                self._session.finish()
            case other:
                self.warn(f"Messages of the type {other[:32]!r} are not known.", "UNKNOWN_MESSAGE")

    def _write(self, context: Context | None, text: str) -> None:
        if context is None and text.strip():
            self.state.texts += 1
            context = self.open(str(self.state.texts), None)
        try:
            if context is not None:
                context.write(text)
        except TextError as error:
            self.warn(error.message, error.code or "")

    def open(self, key: str, message: DeepgramMessage | None) -> Context:
        asked = replace(self.asked, speed=self.state.pace / 100) if self.state.pace else self.asked
        return self._session.contexts.open(key, asked, self.output)

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
        self._session.send({"type": kind, "sequence_id": self.state.sequence})
        self.state.sequence += 1

    def warn(self, message: str, code: str) -> None:
        """Clients read one field or the other."""
        self._session.send({"type": "Warning", "description": message, "warn_msg": message, "code": code})


@dataclass
class SocketTurn:
    """A text between two flushes. Times are milliseconds of the socket's audio."""

    name: str
    characters: int = 0
    begins: int = 0
    ends: int = 0
    text: str = ""
    """The text so far; less of it if a front before this one has had its beginning."""
    words: list[tuple[int, str]] = field(default_factory=list)

    def metadata(self) -> dict[str, Any]:
        counts = dict.fromkeys(("input_character_count", "billable_character_count"), self.characters)
        controls = dict.fromkeys(("pronunciations_applied", "breaks_applied", "pronunciation_warnings"), 0)
        duration = self.ends - self.begins
        return {"speech_id": self.name, "audio_duration_ms": duration, **counts, "controls_applied": controls}

    def heard(self, until: int) -> dict[str, str]:
        """The text up to the last word that begins before then, and the rest; empty if that isn't known."""
        at = 0
        for begins, word in self.words:
            if begins < until and (found := self.text.find(word, at)) >= 0:
                at = found + len(word)
        known = self.words and len(self.text) == self.characters
        return {"text_spoken": self.text[:at], "text_remaining": self.text[at:]} if known else {}


class Turns(Deepgram):
    """The socket of turns (Flux). One context speaks them in their order; a flush ends each."""

    _greeting = "Connected"
    _times_words = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._turns = deque[SocketTurn]()
        """Turns whose audio isn't whole. The first is being heard; the last may still be written."""
        self._latest = SocketTurn("")
        """The turn that was begun last."""

    def hear(self, message: Mapping[str, Any]) -> None:
        fields = fields_in(message, DeepgramTurnMessage)
        context = self._session.contexts.get(str(self.state.texts))
        match fields.type or "":
            case "Speak":
                self._speak(context, fields.text or "")
            case "Flush" if context is not None and self.state.writing:
                self._session.send({"type": "Flushed", "speech_id": self._turns[-1].name})
                self.state.writing = 0
                self._flush(context)
            case "Flush" | "Clear":
                self.warn("No turn is being written.", "NO_ACTIVE_SPEECH")
            case "Interrupt":
                self._interrupt(fields.playback_offset)
            case "Configure":
                self._configure(fields.speed)
            case "Close" if context is None:
                self.ended("")
                self._session.finish()
            case _:
                super().hear(message)

    def _speak(self, context: Context | None, text: str) -> None:
        if context is None or not (self._turns or self.state.pace == self.state.next_pace):
            self._session.contexts.drop(str(self.state.texts))
            self._turns.clear()
            context, self.state.writing = None, 0
            self.state.before, self.state.pace = self.state.now, self.state.next_pace
        if not self.state.writing and text.strip():
            self.state.sequence += 1
            self.state.writing = 1
            self._turns.append(SocketTurn(f"dg_sp_{self.state.sequence:012x}"))
            if len(self._turns) == 1:
                self._begin_turn()
        if self.state.writing:
            turn = self._turns[-1]
            turn.text += text
            turn.characters += len(text)
            self.state.characters += len(text)
            self._write(context, text)

    def _begin_turn(self) -> None:
        turn = self._latest = self._turns[0]
        turn.begins = turn.ends = self.state.now
        self._session.send({"type": "SpeechStarted", "speech_id": turn.name})

    def _end_turn(self) -> None:
        turn = self._turns.popleft()
        if turn.begins == turn.ends:
            self.warn("The turn's text has nothing to speak.", "NO_SYNTHESIZABLE_TEXT")
        self._session.send({"type": "SpeechMetadata", **turn.metadata()})
        if self._turns:
            self._begin_turn()

    def tell(self, key: str, context: Context, event: Event) -> None:
        if isinstance(event, Flushed):
            self._end_turn()
        elif self._turns:
            turn = self._turns[0]
            turn.words += [(self.state.before + round(1000 * word.start), word.word) for word in event.words]
            turn.ends = self.state.now = self.state.before + round(1000 * event.seconds)
            if event.audio:
                self._session.send_bytes(event.audio)

    def ended(self, key: str) -> None:
        while self._turns:
            self._end_turn()
        counts = dict.fromkeys(("total_input_character_count", "total_billable_character_count"), self.state.characters)
        self._session.send({"type": "SessionMetadata", "total_audio_duration_ms": self.state.now, **counts})

    def _interrupt(self, offset: DeepgramOffset | None) -> None:
        now = self.state.now
        if not now:
            self.warn("No audio was made yet.", "NO_AUDIO_GENERATED")
        elif offset and offset.value <= self.state.played:
            self.warn("An earlier interruption was later in the audio.", "INVALID_INTERRUPT_OFFSET")
        elif not (self._turns or (offset and offset.value < now)):
            self.warn("No turn is being spoken.", "NO_ACTIVE_SPEECH")
        else:
            self._session.contexts.drop(str(self.state.texts))
            self._turns.clear()
            played = min(offset.value, now) if offset else now
            texts = self._latest.heard(played) if offset else {}
            self.state.writing, self.state.now, self.state.played = 0, played, played
            told = {"type": "SpeechInterrupted", "audio_played_ms": played, **texts}
            self._session.send(told | {"metadata": self._latest.metadata()})

    def _configure(self, speed: float | None) -> None:
        try:
            if speed is not None:
                self.state.next_pace = round(100 * checked_speed(speed, self._session.services.settings))
        except ApiError as error:
            failed = {"code": "SPEED_OUT_OF_RANGE", "field": "speed", "value": speed, "description": error.message}
            self._session.send({"type": "ConfigureFailure", **failed})
        else:
            applied = {"speed": self.state.next_pace / 100} if self.state.next_pace else {}
            self._session.send({"type": "ConfigureSuccess", "applied": applied})

    def place(self, key: str) -> tuple[int, list[int]]:
        """The beginning of the first turn whose audio isn't whole, and the characters of it and of the others."""
        return 0, [self._turns[0].begins, *(turn.characters for turn in self._turns)] if self._turns else []

    def resume(self, key: str, numbers: list[int]) -> None:
        first = self.state.sequence - len(numbers) + 2
        self._turns.extend(SocketTurn(f"dg_sp_{first + n:012x}", each) for n, each in enumerate(numbers[1:]))
        if self._turns:
            self._latest = self._turns[0]
            self._latest.begins, self._latest.ends = numbers[0], self.state.now


_CONTAINERS = {"linear16": ("wav", "none"), "opus": ("ogg",), "wav": ("wav",)}
"""The containers in which the encodings come; all others come in none."""

_CONTAINER = no_effect_if(
    lambda name, query: bool(name) and name not in _CONTAINERS.get(query.encoding, ("none",)),
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
    query = query_of(request, DeepgramQuery, encoding=request.app[SERVICES].settings.default_format or "mp3")
    output = _output_of(query)
    delivery = Delivery(output, Framing(output.content_type))
    return await speak(request, (body.text or "", "text"), delivery, query.model, None, speed=query.speed)


def _output_of(query: DeepgramQuery) -> OutputFormat:
    in_file = query.encoding == "linear16" and query.container in ("", "wav")
    return encoding_named("wav" if in_file else query.encoding, query.sample_rate, query.bit_rate)


DIALECT = service(
    "deepgram",
    DeepgramError,
    Socket("/v1/speak", Deepgram, DeepgramMessage, DeepgramSocketQuery),
    Socket("/v2/speak", Turns, DeepgramTurnMessage, DeepgramSocketQuery),
    *(Post(path, _speech, DeepgramBody, {"text": "Hello."}, DeepgramQuery) for path in ("/v1/speak", "/v2/speak")),
    asks=lambda request: request.headers.get(hdrs.AUTHORIZATION, "").lower().startswith("token "),
    models=_models,
)
