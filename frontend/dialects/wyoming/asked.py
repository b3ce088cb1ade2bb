"""The speech that a Wyoming event asks for."""

from __future__ import annotations

from typing import Any

import msgspec
from wyoming.event import Event
from wyoming.tts import SynthesizeTextFormat

from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.serving.json_body import fields_in
from frontend.settings.front import FrontSettings
from frontend.speech.voices import asked_speech, usual_voice
from shm.engine_info import EngineInfo
from text.markup.marked import MarkupKind
from text.words.language import UnknownLanguage, language_code, language_of
from text.words.voice_spec import parse_voice


class _Voice(msgspec.Struct):
    name: str | None = None
    language: str | None = None


class TextFields(msgspec.Struct):
    """The fields of the events that have an effect: the library's own types check nothing."""

    text: str | None = None
    text_format: str | None = None
    voice: _Voice | None = None


def text_fields(event: Event) -> TextFields:
    return fields_in(event.data, TextFields)


def asked_by(fields: TextFields, engine: EngineInfo, settings: FrontSettings, **identity: Any) -> SpeechRequest:
    """The request of a `synthesize` or `synthesize-start`, without its text. The `speaker` of its voice is ignored,
    because no voice has several.

    Args:
        identity: the request's id and its client.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    form = fields.text_format or SynthesizeTextFormat.TEXT
    if form not in list(SynthesizeTextFormat):
        message = f"`text_format`: {form[:32]!r} is none of {', '.join(SynthesizeTextFormat)}."
        raise ApiError(400, message, param="text_format", code="invalid_value")
    voice = fields.voice or _Voice()
    name, language = voice.name, voice.language
    if not name and language:
        name = _native(engine, settings, language)
    markup = MarkupKind.SSML if form == SynthesizeTextFormat.SSML else MarkupKind.NONE
    return asked_speech(engine, settings, name, language or None, markup=markup, **identity)


def _native(engine: EngineInfo, settings: FrontSettings, language: str) -> str:
    """The first voice that was made for the language, the default voice before all others; empty if there is none."""
    try:
        wanted = language_code(language, engine.voices)
    except UnknownLanguage:
        return ""
    usual = usual_voice(engine, settings)
    if language_of(parse_voice(usual, engine.voices), engine.voices) == wanted:
        return usual
    return next((voice.name for voice in engine.voices if voice.language == wanted), "")
