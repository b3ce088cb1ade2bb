"""ElevenLabs: one-shot calls, and the sockets `multi-stream-input` with several contexts and `stream-input` with one.

Source: https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import ALL_NAMES, OutputFormat, output_of
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Spoken
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import Pace, Post, Socket, service, speak
from frontend.dialects.elevenlabs_answers import ROUTES, Alignments, ElevenLabsTurn, TimedLines, models
from frontend.dialects.socket import Session, Talk
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.gate import KEY_DUE
from frontend.serving.json_body import fields_in, fields_of, query_of, read_query
from frontend.serving.no_effect import note_no_effect
from frontend.serving.route import Access
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import ANSWERS, Delivery
from frontend.speech.asked import speech_request, text_of
from frontend.speech.body import MAX_TURNS, DialogueBody, TurnBody
from frontend.speech.framing import Framing
from frontend.speech.manner import MannerOfSpeaking
from frontend.speech.voices import MODEL_WORDS, checked_speed, usual_output
from shm.inflection import Inflection
from text.errors import TextError
from text.markup.marked import MarkupKind
from text.normalization.settings import RULES

_KEY = "xi-api-key"
DEFAULT_OUTPUT = "mp3_44100_128"
DEFAULT_CONTEXT = "default"
"""Name of the context of messages without a `context_id`."""

IDLE_SECONDS, LONGEST_IDLE_SECONDS = 20.0, 180.0

_POLICY_VIOLATION = 1008
_OUTPUT_NAME = re.compile(r"(?P<codec>[a-z]+3?)_(?P<rate>\d{4,5})(?:_(?P<kilobits>\d{2,3}))?")
_OUTPUT = Meta(description="Such as mp3_44100_128 (the default), pcm_24000, opus_48000_64 or ulaw_8000.")
_AS_WRITTEN = "`off`: numbers, dates and abbreviations are passed on as they are written."


class ElevenLabsQuery(msgspec.Struct):
    """The parameters of ElevenLabs' POST calls."""

    output_format: Annotated[str, _OUTPUT] = ""


class ElevenLabsSettings(msgspec.Struct):
    """`voice_settings`, in a body or a message."""

    speed: Pace = None
    stability: Annotated[
        float | None,
        Meta(description="How little the pitch moves, 0 to 1: 0.5, where it is left out, is the voice's own."),
    ] = None
    style: Annotated[
        float | None,
        Meta(description="How far the pitch moves beyond that, 0 to 1; 0 where it is left out."),
    ] = None

    @property
    def manner(self) -> MannerOfSpeaking:
        """A quarter more or less of the pitch's range by stability, up to half as much more by style."""
        wanted = 0.5 if self.stability is None else self.stability, self.style or 0.0
        stability, style = (min(max(each, 0.0), 1.0) for each in wanted)
        return MannerOfSpeaking(inflection=Inflection(range=1.25 - stability / 2 + style / 2))


class ElevenLabsBody(msgspec.Struct):
    """The body of ElevenLabs' POST calls."""

    text: Annotated[str | None, Meta(description="The text to speak.")] = None
    model_id: Annotated[str | None, MODEL_WORDS] = None
    language_code: Annotated[
        str | None, Meta(description="The text's language; the voice's own where it is left out.")
    ] = None
    voice_settings: Annotated[
        ElevenLabsSettings | None, Meta(description="`speed`, `stability` and `style` have an effect.")
    ] = None
    apply_text_normalization: Annotated[
        str | None, Meta(description=_AS_WRITTEN, extra_json_schema={"enum": ["auto", "on", "off", "", None]})
    ] = None


class ElevenLabsDialogue(msgspec.Struct):
    """The body of ElevenLabs' calls with several voices."""

    inputs: Annotated[list[ElevenLabsTurn], Meta(min_length=1, max_length=MAX_TURNS, description="The turns.")]
    model_id: Annotated[str | None, MODEL_WORDS] = None


class ElevenLabsSocketQuery(msgspec.Struct):
    """The parameters of ElevenLabs' sockets."""

    output_format: Annotated[str, _OUTPUT] = ""
    language_code: Annotated[str, Meta(description="The texts' language; the voice's own where it is left out.")] = ""
    apply_text_normalization: Annotated[str, Meta(description=_AS_WRITTEN)] = ""
    enable_ssml_parsing: Annotated[bool, Meta(description="`true`: texts are SSML.")] = False
    auto_mode: Annotated[bool, Meta(description="`true`: each message is a whole text, spoken at once.")] = False
    sync_alignment: Annotated[
        bool, Meta(description="`true`: times count from the context's beginning, not from the message's audio.")
    ] = False
    inactivity_timeout: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Seconds without a message after which the socket is closed: 1 to 180."),
    ] = None


class ElevenLabsMessage(msgspec.Struct):
    """A message on ElevenLabs' sockets."""

    text: str | None = None
    context_id: str | None = None
    context: str | None = msgspec.field(default=None, name="contextId")
    voice_settings: ElevenLabsSettings | None = None
    flush: bool | None = None
    try_trigger_generation: bool | None = None
    close_context: bool | None = None
    close_socket: bool | None = None
    key: str | None = msgspec.field(default=None, name=_KEY)
    xi_api_key: str | None = None
    authorization: str | None = None


class ElevenLabsDetail(msgspec.Struct):
    """The reason for an error, as ElevenLabs' clients read it."""

    status: Annotated[str | None, Meta(description="The reason for programs; it doesn't change.")]
    message: Annotated[str, Meta(description="The error, and a remedy.")]


class ElevenLabsError(ErrorAnswer):
    """An error in ElevenLabs' shape."""

    detail: ElevenLabsDetail

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> ElevenLabsError:
        return cls(ElevenLabsDetail(detail.code, detail.message))


class KeyState(msgspec.Struct):
    shown: int
    """0 while the client owes its key."""


class ElevenLabs(Talk):
    state: KeyState

    def __init__(self, session: Session, *, single: bool) -> None:
        """`single`: the socket has one context, and ends with it."""
        super().__init__(session)
        self._single = single
        self.state = KeyState(int(KEY_DUE not in session.request))
        self._settled = False
        self._absolute = False
        self._alignments: dict[str, Alignments] = {}
        self._idle_seconds = IDLE_SECONDS

    @property
    def idle_seconds(self) -> float:  # type: ignore[override]
        """A client that owes its key has no longer than one that owes a header."""
        if self.state.shown:
            return self._idle_seconds
        return min(self._idle_seconds, self._session.services.settings.header_timeout)

    def begin(self) -> None:
        request = self._session.request
        query = read_query(request.query, ElevenLabsSocketQuery)
        wanted = IDLE_SECONDS if query.inactivity_timeout is None else float(query.inactivity_timeout)
        self._idle_seconds = min(max(wanted, 1.0), LONGEST_IDLE_SECONDS)
        self.output = output_named(query.output_format or DEFAULT_OUTPUT)
        self._settled = query.auto_mode
        self._absolute = query.sync_alignment
        self.asked = self._session.asked(
            request.match_info["voice"],
            query.language_code,
            timestamps=True,
            rules_off=_rules_off(query.apply_text_normalization),
            markup=MarkupKind.SSML if query.enable_ssml_parsing else MarkupKind.NONE,
        )

    def hear(self, message: Mapping[str, Any]) -> None:
        """An error of a context leaves the socket open, once its client has shown its key."""
        named = message.get("context_id", message.get("contextId"))
        key = named if isinstance(named, str) and named and not self._single else DEFAULT_CONTEXT
        try:
            fields = fields_in(message, ElevenLabsMessage)
            self._check_key(fields)
            if fields.close_socket:
                self._session.finish()
            else:
                self._follow(key, fields)
        except TextError as error:
            self._session.contexts.drop(key)
            self._session.fail(key if self.state.shown else None, error)

    def _follow(self, key: str, message: ElevenLabsMessage) -> None:
        context, text = self._session.contexts.get(key), message.text or ""
        ends = bool(message.close_context) or (self._single and message.text == "")
        if context is None and text and not ends:
            context = self.open(key, message)
        elif context is not None and context.finished and text.strip():
            raise ApiError(400, f"The context {key[:64]!r} has been closed.", code="context_closed")
        if context is None:
            if self._single and ends:
                self._session.finish()
            return
        if text.strip():
            # Clients send whole words, and some leave out the space between two sentences.
            context.write(f"{text} " if self._settled else text, settled=self._settled)
        if message.flush or (self._single and message.try_trigger_generation and text.strip()):
            context.flush(report=False)
        if ends:
            context.finish()
            self._session.contexts.closing |= self._single

    def open(self, key: str, message: ElevenLabsMessage) -> Context:
        engine_asked(self._session.request)
        wanted = message.voice_settings or ElevenLabsSettings()
        speed = checked_speed(wanted.speed, self._session.services.settings)
        client, inflection = f"{self.asked.client}/{key}", wanted.manner.inflection
        asked = replace(self.asked, client=client, speed=speed, inflection=inflection)
        context = self._session.contexts.open(key, asked, self.output)
        self._alignments = {name: each for name, each in self._alignments.items() if self._session.contexts.get(name)}
        self._alignments[key] = Alignments(absolute=self._absolute)
        return context

    def _check_key(self, message: ElevenLabsMessage) -> None:
        if self.state.shown:
            return
        offered = message.key or message.xi_api_key or re.sub(r"(?i)^bearer ", "", message.authorization or "")
        if not offered or not self._session.request[KEY_DUE](offered):
            what = "That API key is none of this server's." if offered else f"An API key is needed, as {_KEY}."
            raise ApiError(401, what, code="invalid_api_key" if offered else "missing_api_key")
        self.state.shown = 1

    def tell(self, key: str, context: Context, event: Event) -> None:
        if not isinstance(event, Spoken):
            return
        alignments = self._alignments[key]
        alignments.add(event.words)
        if not event.audio:
            return
        written, said = alignments.cover(event.seconds) or (None, None)
        audio = base64.b64encode(event.audio).decode()
        times = {"alignment": written, "normalizedAlignment": said}
        self._session.send({"audio": audio, "isFinal": None, **times, **self._names(key)})

    def ended(self, key: str) -> None:
        self._alignments.pop(key, None)
        self._session.send({"audio": None, "isFinal": True, **self._names(key)})

    def error(self, key: str | None, detail: ErrorDetail, status: int) -> dict[str, Any]:
        names = {} if key is None else self._names(key)
        return {"error": detail.code, "code": _POLICY_VIOLATION, "message": detail.message, **names}

    def place(self, key: str) -> tuple[int, list[int]]:
        return len(self._alignments[key]), [self._alignments[key].covered_ms]

    def resume(self, key: str, numbers: list[int]) -> None:
        self._alignments[key].covered_ms = numbers[0]

    def _names(self, key: str) -> dict[str, str]:
        """Both spellings of a context's name: clients read one or the other."""
        return {} if self._single else {"contextId": key, "context_id": key}


async def _dialogue(request: web.Request, *, timed: bool = False, streamed: bool = True) -> web.StreamResponse:
    """POST /v1/text-to-dialogue and the calls below it."""
    turns = (await fields_of(request, ElevenLabsDialogue)).inputs
    fields = DialogueBody(
        turns=[TurnBody(turn.text, voice=turn.voice_id or None) for turn in turns], timestamps="word" if timed else None
    )
    answers, delivery = request.app[ANSWERS], _delivery(request, turns if timed else None, streamed=streamed)
    text = text_of(fields, answers.settings)
    return await answers.speak(
        request,
        text,
        delivery,
        lambda engine: speech_request(request, fields, text, None, engine, answers.settings, delivery),
    )


async def _speech(request: web.Request, *, timed: bool = False, streamed: bool = True) -> web.StreamResponse:
    """POST /v1/text-to-speech/{voice} and the calls below it."""
    body = await fields_of(request, ElevenLabsBody)
    wanted = body.voice_settings or ElevenLabsSettings()
    if not engine_asked(request).inflects:
        dead = (name for name in ("stability", "style") if getattr(wanted, name) is not None)
        note_no_effect(request, [f"voice_settings.{name}" for name in dead])
    return await speak(
        request,
        (body.text or "", "text"),
        _delivery(request, () if timed else None, streamed=streamed),
        request.match_info["voice"],
        body.language_code or None,
        speed=wanted.speed,
        manner=wanted.manner,
        rules_off=_rules_off(body.apply_text_normalization),
        timestamps=timed,
    )


def _delivery(request: web.Request, turns: Sequence[ElevenLabsTurn] | None, *, streamed: bool) -> Delivery:
    """Args:
    turns: those of a dialogue, whose times are wanted, or none of a text with times; None: no times.
    """
    named, usual = query_of(request, ElevenLabsQuery).output_format, usual_output(request.app[SERVICES].settings)
    output = output_named(named or DEFAULT_OUTPUT) if named or usual is None else usual
    framing = Framing(output.content_type) if turns is None else TimedLines(turns)
    return Delivery(output, framing, streamed=streamed)


def output_named(name: str) -> OutputFormat:
    """`output_format`, such as `mp3_44100_128`, `pcm_24000` or `ulaw_8000`.

    Raises:
        ApiError: 400, there is no such format here.
    """
    match = _OUTPUT_NAME.fullmatch(name)
    if match is None or match["codec"] not in ALL_NAMES:
        known = "mp3_RATE_KBITS, opus_48000_KBITS, pcm_RATE, ulaw_8000, alaw_8000"
        message = f"`output_format`: {name[:32]!r} is none of {known}."
        raise ApiError(400, message, param="output_format", code="invalid_output_format")
    bit_rate = float(match["kilobits"]) * 1000 if match["kilobits"] else None
    return output_of(ALL_NAMES[match["codec"]], float(match["rate"]), bit_rate, "output_format")


def _rules_off(wanted: str | None) -> tuple[str, ...]:
    """The normalisation rules that `apply_text_normalization` turns off: all of them, or none."""
    if wanted not in (None, "", "auto", "on", "off"):
        message = f"`apply_text_normalization` is {wanted[:64]!r}; it must be auto, on or off."
        raise ApiError(400, message, param="apply_text_normalization", code="invalid_value")
    return tuple(RULES) if wanted == "off" else ()


_VOICE = "/v1/text-to-speech/{voice}"
_socket = partial(Socket, messages=ElevenLabsMessage, query=ElevenLabsSocketQuery, access=Access.SOCKET)
_post = partial(Post, body=ElevenLabsBody, example={"text": "Hello.", "model_id": "kokoro"}, query=ElevenLabsQuery)

_DIALOGUE = "/v1/text-to-dialogue"
_TURNS = {"inputs": [{"text": "Who is there?", "voice_id": "af_heart"}, {"text": "Me.", "voice_id": "am_michael"}]}
_turns = partial(Post, body=ElevenLabsDialogue, example=_TURNS, query=ElevenLabsQuery)

DIALECT = service(
    "elevenlabs",
    ElevenLabsError,
    _socket(f"{_VOICE}/multi-stream-input", partial(ElevenLabs, single=False)),
    _socket(f"{_VOICE}/stream-input", partial(ElevenLabs, single=True)),
    _post(_VOICE, _speech),
    _post(f"{_VOICE}/stream", _speech),
    _post(f"{_VOICE}/with-timestamps", partial(_speech, timed=True, streamed=False), timed=True),
    _post(f"{_VOICE}/stream/with-timestamps", partial(_speech, timed=True), timed=True),
    _turns(_DIALOGUE, _dialogue),
    _turns(f"{_DIALOGUE}/stream", _dialogue),
    _turns(f"{_DIALOGUE}/with-timestamps", partial(_dialogue, timed=True, streamed=False), timed=True),
    _turns(f"{_DIALOGUE}/stream/with-timestamps", partial(_dialogue, timed=True), timed=True),
    lists=ROUTES,
    asks=lambda request: _KEY in request.headers,
    key_header=_KEY,
    models=models,
)
