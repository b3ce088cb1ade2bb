"""The language of a text that a request names, by its language or its voice."""

from __future__ import annotations

from frontend.contract.errors import ApiError
from shm.engine_info import EngineInfo
from shm.messages import Voice
from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice


def named_language(lang: str | None, voice: str | None, engine: EngineInfo | None) -> str:
    """espeak's code of the language that `lang` names; without one, the voice's own language.

    Raises:
        ApiError: 400, the engine has no such voice, or there is no such language.
    """
    try:
        return language_of(_voice(voice, engine), lang)
    except UnknownLanguage as error:
        raise ApiError(400, str(error), param="lang", code="unknown_language") from error


def _voice(spec: str | None, engine: EngineInfo | None) -> Voice:
    """The voice of the request; while no engine speaks, a voice's name gives its language."""
    if engine is None:
        return ((spec, 1.0),) if spec else ()
    try:
        return parse_voice(spec if spec is not None else default_voice(engine.voices), engine.voices)
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param="voice", code=code) from error
