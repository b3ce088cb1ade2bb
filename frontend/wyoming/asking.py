"""The voicing that an event asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wyoming.tts import SynthesizeTextFormat

from frontend.contexts.voices import find_voice
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError
from frontend.contract.speaker import Speaker
from frontend.http.dialects.clients import object_of, text_of
from text.markup.marked import MarkupKind
from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import default_voice


def voicing_of(speaker: Speaker, voicing: Voicing, data: Mapping[str, Any]) -> Voicing:
    """The voicing for a `synthesize` or a `synthesize-start`. The `speaker` of its voice is ignored, because no voice
    has several.

    Args:
        voicing: the client's own identity.

    Raises:
        ApiError: 400, naming the field that is wrong.
        Unavailable: no engine can speak now.
    """
    form = text_of(data, "text_format") or SynthesizeTextFormat.TEXT
    if form not in list(SynthesizeTextFormat):
        message = f"`text_format`: {form[:32]!r} is none of {', '.join(SynthesizeTextFormat)}."
        raise ApiError(400, message, param="text_format", code="invalid_value")
    voice = object_of(data, "voice")
    name, language = text_of(voice, "name"), text_of(voice, "language")
    if not name and language and speaker.engine is not None:
        name = _native(speaker.engine.voices, language)
    markup = MarkupKind.SSML if form == SynthesizeTextFormat.SSML else MarkupKind.NONE
    return find_voice(speaker, replace(voicing, markup=markup), name or None, language or None)


def _native(voices: Sequence[str], language: str) -> str:
    """The first voice that was made for the language, the default voice before all others; empty if there is none."""
    try:
        wanted = language_of((), language)
    except UnknownLanguage:
        return ""
    return next((name for name in (default_voice(voices), *voices) if language_of(((name, 1.0),)) == wanted), "")
