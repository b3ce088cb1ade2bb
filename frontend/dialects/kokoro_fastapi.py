"""Kokoro-FastAPI: the operations that it has besides OpenAI's, so that its clients need no change.

Source: https://github.com/remsky/Kokoro-FastAPI
"""

from __future__ import annotations

import asyncio
import math
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.in_flight import current
from frontend.dialects.dialect import FILES, Dialect
from frontend.dialects.openai import REQUEST_HEADERS, SPEAKS, SPEECH_CONTENT, SPEECH_HEADERS, speak
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import another_name
from frontend.serving.route import JSON, WITH_BODY, Access, Answer, Routes, json_answer
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import ANSWERS
from frontend.speech.asked import check_length
from frontend.speech.body import DialogueBody, SpeechBody
from frontend.speech.framing import CaptionedLine, CaptionedSpeech
from shm.audio import FASTEST, SLOWEST
from text.apart import apart
from text.markup import ssml
from text.markup.builder import TagWriter
from text.markup.meanings import Meanings
from text.markup.say_as import said_as
from text.words.language import language_of
from text.words.performer import Performer
from text.words.voice_spec import VoiceError, parse_voice

ROUTES = Routes()


@ROUTES.add(
    "post",
    "/dev/captioned_speech",
    Access.KEY,
    "Speech",
    Answer(
        "With `stream`: `false` one object; otherwise one a line, each word in the line in which it begins or in one "
        "before. A line with an error ends an incomplete answer.",
        {"application/x-ndjson": CaptionedLine, JSON: CaptionedSpeech},
        SPEECH_HEADERS,
    ),
    body=SpeechBody,
    example={"voice": "af_heart", "input": "Hello.", "stream": False},
    errors=(*WITH_BODY, 409, 500),
    request_headers=REQUEST_HEADERS,
    repeatable=True,
)
async def captioned_speech(request: web.Request) -> web.StreamResponse:
    """Speak a text, and say when each word sounds.

    Kokoro-FastAPI's operation. 400 from an engine that can't tell when its words sound.
    """
    return await speak(request, await fields_of(request, SpeechBody), captioned=True)


@ROUTES.add(
    "post",
    "/dev/dialogue",
    Access.KEY,
    "Kokoro-FastAPI",
    Answer("The audio of all turns.", SPEECH_CONTENT, SPEECH_HEADERS),
    body=DialogueBody,
    example={"inputs": [{"voice_id": "af_heart", "text": "Hello."}]},
    **SPEAKS,
)
async def dialogue(request: web.Request) -> web.StreamResponse:
    """The same as /v1/audio/dialogue, and its turns may have tags.

    Without `markup` and `allow_voice_tags`, the turns are read with `markup`: `tags`.
    """
    fields = await fields_of(request, DialogueBody)
    if fields.markup is None and fields.allow_voice_tags is None:
        fields.allow_voice_tags = True
    return await speak(request, fields)


@ROUTES.add(
    "post",
    "/dev/generate_from_phonemes",
    Access.KEY,
    "Kokoro-FastAPI",
    Answer("The audio; WAV where no format is named.", SPEECH_CONTENT, SPEECH_HEADERS),
    body=SpeechBody,
    example={"phonemes": "həlˈO.", "voice": "af_heart"},
    **SPEAKS,
)
async def generate_from_phonemes(request: web.Request) -> web.StreamResponse:
    """Speak phonemes.

    The same as `/v1/audio/speech` with `phonemes`.
    """
    fields = await fields_of(request, SpeechBody)
    if fields.phonemes is None:
        message = "`phonemes` is missing: give the phonemes to speak."
        raise ApiError(400, message, param="phonemes", code="missing_required")
    return await speak(request, fields, usual="wav")


class DownloadQuery(msgspec.Struct):
    """The query of a download."""

    name: Annotated[str, Meta(description="The name under which a browser saves the file.")] = ""


@ROUTES.add(
    "get",
    "/v1/download/{name}",
    Access.KEY,
    "Kokoro-FastAPI",
    Answer("The whole file, with exact lengths.", dict.fromkeys(FILES)),
    errors=(403, 404),
    query=DownloadQuery,
)
async def download(request: web.Request) -> web.Response:
    """The audio of a response that has ended.

    The path of `X-Download-Path`, with or without `/v1`, for requests with `return_download_link`. It works for an hour
    after the response's end, if no newer downloads have taken its place. `?name=` sets the name of the saved file.
    """
    return await request.app[ANSWERS].downloads.get(request)


BlendBody = str | list[str]
"""A blend, or the names of voices that have equal parts in one."""


class Blend(msgspec.Struct):
    """A blend of voices."""

    id: Annotated[str, Meta(description="The blend, as a request's `voice` takes it.")]
    name: Annotated[str, Meta(description="The id again.")]
    language: str
    engine: str
    voices: Annotated[dict[str, float], Meta(description="Each voice's part; the sum is 1.")]


@ROUTES.add(
    "post",
    "/v1/audio/voices/combine",
    Access.KEY,
    "Kokoro-FastAPI",
    json_answer("`id` is what a request's `voice` takes.", Blend),
    errors=WITH_BODY,
    body=BlendBody,
    example="af_heart(2)+af_bella",
)
async def combine(request: web.Request) -> web.Response:
    """The name of a blend of voices.

    No file is made: each request can name a blend.
    """
    engine = engine_asked(request)
    spec: str | list[str] = await fields_of(request, BlendBody)  # type: ignore[arg-type]
    try:
        voice = parse_voice(spec if isinstance(spec, str) else "+".join(spec), engine.voices)
    except VoiceError as error:
        raise ApiError(400, str(error), param="voices", code="invalid_voice") from error
    name = Performer(voice, "").name
    return json_response(Blend(name, name, language_of(voice, engine.voices), engine.name, dict(voice)))


class SsmlParts(msgspec.Struct):
    """The part of SSML that has an effect."""

    elements: Annotated[dict[str, str], Meta(description="Each element's effect.")]
    ignored: Annotated[list[str], Meta(description="Elements of which only the text is read.")]
    break_strengths: Annotated[dict[str, float], Meta(description="Seconds.")]
    prosody_rates: dict[str, float]
    rate_range: list[float]


@ROUTES.add("get", "/dev/ssml", Access.NEAR, "Kokoro-FastAPI", json_answer("Elements and values.", SsmlParts))
async def known_ssml(request: web.Request) -> web.Response:
    """The part of SSML that is known."""
    strengths = {"none": 0.0} | ssml.STRENGTHS
    rates = dict(ssml.RATES)
    return json_response(SsmlParts(dict(ssml.ELEMENTS), list(ssml.IGNORED), strengths, rates, [SLOWEST, FASTEST]))


class SsmlBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    text: Annotated[str | None, Meta(description="The document; a text without `<speak>` stays as it is.")] = None
    input: Annotated[
        str | None,
        another_name("text"),
    ] = None
    voice: Annotated[
        str,
        Meta(
            description="The voice of the request that the result is meant for. Without it, voices and paces are "
            "left out."
        ),
    ] = ""


class TaggedText(msgspec.Struct):
    """A text with tags."""

    text: str


@ROUTES.add(
    "post",
    "/dev/ssml",
    Access.KEY,
    "Kokoro-FastAPI",
    json_answer("A text for `markup`: `tags`.", TaggedText),
    errors=WITH_BODY,
    body=SsmlBody,
    example={"text": '<speak>Hello. <break time="1s"/> Who is there?</speak>', "voice": "af_heart"},
)
async def ssml_as_tags(request: web.Request) -> web.Response:
    """Turn SSML into a text with tags."""
    services = request.app[SERVICES]
    fields = await fields_of(request, SsmlBody)
    text = fields.input if fields.text is None else fields.text
    if text is None:
        raise ApiError(400, "`text` is missing: give a document.", param="text", code="missing_required")
    check_length(len(text), services.settings, "text")
    if ssml.is_document(text):
        with services.in_flight.answering(text):
            text = await asyncio.to_thread(_translated, text, fields.voice.strip())
    return json_response(TaggedText(text))


def _translated(text: str, voice: str) -> str:
    with current.get().working():
        return apart.result(text, _with_tags, text, voice)


def _with_tags(text: str, voice: str) -> str:
    writer = TagWriter(voice)
    ssml.read_ssml(text, _NamedMeanings(), writer)
    return writer.written()


class _NamedMeanings(Meanings):
    """Meanings that stay as they are written: the speech request will look them up."""

    max_pause_seconds = math.inf

    def __init__(self) -> None:
        """It knows no voices."""

    def phonemes(self, ipa: str, performer: Performer | None) -> str:
        return ipa

    def said_as(self, text: str, interpret_as: str, form: str, performer: Performer | None) -> str:
        return said_as(text, interpret_as, form, "en-us")

    def performer(self, name: str) -> Performer:
        return Performer(((name, 1.0),), "")


DIALECT = Dialect("kokoro_fastapi", ROUTES, optional=False)
