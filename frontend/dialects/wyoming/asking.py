"""The speech that an event asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wyoming.tts import SynthesizeTextFormat

from frontend.contexts.voices import asked_speech
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.dialects.clients import object_of, text_of
from shm.engine_info import EngineInfo
from text.markup.marked import MarkupKind
from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import default_voice


def asked_by(data: Mapping[str, Any], engine: EngineInfo, **identity: Any) -> SpeechRequest:
    """What a `synthesize` or a `synthesize-start` asks for, without its text. The `speaker` of its voice is ignored,
    because no voice has several.

    Args:
        identity: the request's id and its client.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    form = text_of(data, "text_format") or SynthesizeTextFormat.TEXT
    if form not in list(SynthesizeTextFormat):
        message = f"`text_format`: {form[:32]!r} is none of {', '.join(SynthesizeTextFormat)}."
        raise ApiError(400, message, param="text_format", code="invalid_value")
    voice = object_of(data, "voice")
    name, language = text_of(voice, "name"), text_of(voice, "language")
    if not name and language:
        name = _native(engine.voices, language)
    markup = MarkupKind.SSML if form == SynthesizeTextFormat.SSML else MarkupKind.NONE
    return asked_speech(engine, name, language or None, markup=markup, **identity)


def _native(voices: Sequence[str], language: str) -> str:
    """The first voice that was made for the language, the default voice before all others; empty if there is none."""
    try:
        wanted = language_of((), language)
    except UnknownLanguage:
        return ""
    return next((name for name in (default_voice(voices), *voices) if language_of(((name, 1.0),)) == wanted), "")
