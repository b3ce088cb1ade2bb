"""Google: one call that answers a text or an SSML document with its audio in JSON, and the list of voices.

Source: https://cloud.google.com/text-to-speech/docs/reference/rest
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import OutputFormat, encoding_named
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import Post, service, speak
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import note_no_effect
from frontend.serving.route import JSON, KEY_PARAMETER, Access, Routes, json_answer
from frontend.serving.services import SERVICES, engine_asked
from frontend.settings.front import FrontSettings
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing, mark_times
from frontend.speech.manner import MannerOfSpeaking
from frontend.speech.voices import usual_output
from shm.engine_info import VoiceInfo
from shm.inflection import PLAIN, Inflection
from shm.timing import WordTiming
from text.markup.marked import MarkupKind
from text.words.language import UnknownLanguage, language_code, locale_of

_ENCODINGS = {
    "LINEAR16": "wav",
    "MP3": "mp3",
    "OGG_OPUS": "opus",
    "MP3_64_KBPS": "mp3",
    "MULAW": "wav_mulaw",
    "ALAW": "wav_alaw",
    "PCM": "pcm",
}
"""Our names of the encodings. Google's libraries send the place in this list instead of the name, counted from 1."""

_GENDERS = ("", "MALE", "FEMALE")

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}

_PAUSES = {"": "0.4s", " short": "0.2s", " long": "0.8s"}
_PAUSE = re.compile(r"\[pause( short| long|)\]")

_NUMBERED = "Google's name, or its number."


class GoogleInput(msgspec.Struct):
    """`input`."""

    text: Annotated[str | None, Meta(description="The text to speak.")] = None
    ssml: Annotated[str | None, Meta(description="An SSML document in place of `text`.")] = None
    markup: Annotated[
        str | None, Meta(description="A text with `[pause]`, `[pause short]` and `[pause long]` in place of `text`.")
    ] = None


class GoogleVoiceChoice(msgspec.Struct, rename="camel"):
    """`voice`."""

    language_code: Annotated[str | None, Meta(description="The text's language.")] = None
    name: Annotated[str | None, Meta(description="A voice; without it the one by language and gender.")] = None
    ssml_gender: Annotated[
        str | int | None, Meta(description=f"MALE or FEMALE, where no name is given. {_NUMBERED}")
    ] = None


class GoogleAudio(msgspec.Struct, rename="camel"):
    """`audioConfig`."""

    audio_encoding: Annotated[
        str | int | None, Meta(description=f"{', '.join(_ENCODINGS)}; LINEAR16 where it is left out. {_NUMBERED}")
    ] = None
    speaking_rate: Annotated[
        float | None, Meta(description="The pace; the server's default where it is 0 or left out.")
    ] = None
    pitch: Annotated[
        Annotated[float, Meta(ge=-20, le=20)] | None, Meta(description="Semitones; an octave at most has an effect.")
    ] = None
    volume_gain_db: Annotated[Annotated[float, Meta(ge=-96, le=16)] | None, Meta(description="dB, up to 12.")] = None
    sample_rate_hertz: Annotated[int | None, Meta(description="24000, or 8000 for MULAW and ALAW, without it.")] = None


class GoogleBody(msgspec.Struct, rename="camel"):
    """The body of Google's call."""

    input: Annotated[GoogleInput, Meta(description="What to speak.")]
    voice: Annotated[GoogleVoiceChoice, Meta(description="Who speaks.")] = msgspec.field(
        default_factory=GoogleVoiceChoice
    )
    audio_config: Annotated[GoogleAudio, Meta(description="How it is spoken and sent.")] = msgspec.field(
        default_factory=GoogleAudio
    )
    enable_time_pointing: Annotated[
        list[str | int], Meta(description="`SSML_MARK`, or 1: the answer has the times of the document's marks.")
    ] = msgspec.field(default_factory=list)


class GoogleVoice(msgspec.Struct, rename="camel"):
    """A voice in Google's shape."""

    language_codes: list[str]
    name: str
    ssml_gender: str
    natural_sample_rate_hertz: int


class GoogleVoices(msgspec.Struct):
    """The voices in Google's shape."""

    voices: list[GoogleVoice]


class GoogleVoicesQuery(msgspec.Struct, rename="camel"):
    """The query of Google's list of voices."""

    language_code: Annotated[str, Meta(description="The voices of this language.")] = ""


class GoogleStatus(msgspec.Struct):
    """The reason for an error, as Google's clients read it."""

    code: Annotated[int, Meta(description="The answer's status.")]
    message: Annotated[str, Meta(description="The error, and a remedy.")]
    status: Annotated[str, Meta(description="Google's name of the status.")]


class GoogleError(ErrorAnswer):
    """An error in Google's shape."""

    error: GoogleStatus

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> GoogleError:
        usual = "INVALID_ARGUMENT" if status < 500 else "INTERNAL"
        return cls(GoogleStatus(status, detail.message, _STATUSES.get(status, usual)))


class GoogleSpeech(Framing):
    """An object with all of the audio in base64, and the times of SSML's marks if they are asked for."""

    bare = False

    def __init__(self, *, marked: bool) -> None:
        super().__init__(JSON)
        self._marked = marked

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        found: dict[str, Any] = {"audioContent": base64.b64encode(audio).decode()}
        if self._marked:
            found["timepoints"] = [{"markName": mark.name, "timeSeconds": mark.time} for mark in mark_times(words)]
        return msgspec.json.encode(found)


LISTS = Routes()


@LISTS.add(
    "get",
    "/v1beta1/voices",
    Access.NEAR,
    "Lists",
    json_answer("The voices.", GoogleVoices),
    errors=(403, 503),
    query=GoogleVoicesQuery,
)
async def voices(request: web.Request) -> web.Response:
    """The voices of the engine that speaks, for Google's clients."""
    return json_response(_voices(request))


def _voices(request: web.Request) -> GoogleVoices:
    engine, wanted = engine_asked(request), request.query.get("languageCode", "")
    found = list(engine.voices)
    if wanted:
        with suppress(UnknownLanguage):
            wanted = language_code(wanted, engine.voices)
        found = [voice for voice in found if voice.language == wanted]
    return GoogleVoices([_voice(voice, engine.sample_rate) for voice in found])


def _voice(voice: VoiceInfo, rate: int) -> GoogleVoice:
    gender = (voice.gender or "SSML_VOICE_GENDER_UNSPECIFIED").upper()
    return GoogleVoice([locale_of(voice.language)], voice.name, gender, rate)


async def _speech(request: web.Request) -> web.StreamResponse:
    """POST /v1/text:synthesize."""
    body = await fields_of(request, GoogleBody)
    engine, audio, voice = engine_asked(request), body.audio_config, body.voice
    manner = Inflection(pitch=audio.pitch or 0.0, volume=audio.volume_gain_db or 0.0).within(PLAIN)
    marked = bool({"SSML_MARK", 1}.intersection(body.enable_time_pointing))
    dead = {
        "audioConfig.pitch": bool(audio.pitch) and not engine.inflects,
        "audioConfig.volumeGainDb": bool(audio.volume_gain_db) and not engine.inflects,
        "enableTimePointing": marked and not engine.marks,
    }
    note_no_effect(request, [name for name, is_dead in dead.items() if is_dead])
    output = _output_of(audio, request.app[SERVICES].settings)
    return await speak(
        request,
        _text_of(body.input),
        Delivery(output, GoogleSpeech(marked=marked), streamed=False),
        voice.name,
        voice.language_code,
        gender=_named(voice.ssml_gender, _GENDERS).lower() or None,
        speed=audio.speaking_rate or None,
        manner=MannerOfSpeaking(inflection=manner),
        markup=MarkupKind.NONE if body.input.ssml is None else MarkupKind.SSML,
        timestamps=marked,
    )


def _text_of(wanted: GoogleInput) -> tuple[str, str]:
    """The text, and the field that it stands in.

    Raises:
        ApiError: 400, there isn't one text.
    """
    given = {name: text for name in ("text", "ssml", "markup") if (text := getattr(wanted, name)) is not None}
    if len(given) != 1:
        raise ApiError(400, "`input`: give one of text, ssml and markup.", param="input", code="invalid_value")
    [(name, text)] = given.items()
    if name == "markup":
        text = _PAUSE.sub(lambda pause: f"[pause:{_PAUSES[pause[1]]}]", text)
    return text, f"input.{name}"


def _named(value: str | int | None, names: Sequence[str]) -> str:
    """The name of an enumeration's value, which Google's libraries send as its number; empty if there is none."""
    if isinstance(value, int):
        return names[value] if 0 <= value < len(names) else ""
    return value if value and value in names else ""


def _output_of(audio: GoogleAudio, settings: FrontSettings) -> OutputFormat:
    wanted, usual = audio.audio_encoding, usual_output(settings)
    if not wanted and usual is not None:
        return usual
    name = _named(wanted or "LINEAR16", ("", *_ENCODINGS))
    if not name:
        message = f"`audioConfig.audioEncoding`: {str(wanted)[:32]!r} is none of {', '.join(_ENCODINGS)}."
        raise ApiError(400, message, param="audioConfig.audioEncoding", code="invalid_encoding")
    return encoding_named(_ENCODINGS[name], audio.sample_rate_hertz or None, 64_000 if name == "MP3_64_KBPS" else None)


_EXAMPLE = {
    "input": {"text": "Hello."},
    "voice": {"languageCode": "en-US", "name": "en-US-Neural2-F"},
    "audioConfig": {"audioEncoding": "MP3"},
}
_post = partial(Post, speak=_speech, body=GoogleBody, example=_EXAMPLE, timed=True)

DIALECT = service(
    "google",
    GoogleError,
    _post("/v1/text:synthesize"),
    _post("/v1beta1/text:synthesize"),
    lists=LISTS,
    asks=lambda request: (
        KEY_PARAMETER in request.query or any(name.lower().startswith("x-goog-") for name in request.headers)
    ),
    key_header="X-Goog-Api-Key",
    voices=_voices,
    voices_query=GoogleVoicesQuery,
)
