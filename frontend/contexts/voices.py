"""The voicing that a client's names stand for, checked against the engine that speaks now."""

from __future__ import annotations

from dataclasses import replace

from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError
from frontend.contract.speaker import Speaker, engine_in_use
from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice

MIN_SPEED, MAX_SPEED = 0.25, 4.0


def find_voice(speaker: Speaker, voicing: Voicing, name: str | None, language: str | None) -> Voicing:
    """The voicing with a voice and a language of the engine's.

    Args:
        name: a voice, a blend, or one of OpenAI's names; None: the engine's default.
        language: a language or locale; None, or one that the engine lacks, leaves the voice's own. A client that speaks
            to several services sends the language of its own settings, with voices of any language.

    Raises:
        Unavailable: no engine can speak now.
        ApiError: 400, the voice or the speed.
    """
    engine = engine_in_use(speaker)
    if not MIN_SPEED <= voicing.speed <= MAX_SPEED:
        message = f"`speed` is {voicing.speed:g}; it must be between {MIN_SPEED} and {MAX_SPEED}."
        raise ApiError(400, message, param="speed", code="invalid_value")
    try:
        voice = parse_voice(name if name else default_voice(engine.voices), engine.voices)
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param="voice", code=code) from error
    own = language_of(voice, None)
    try:
        found = language_of(voice, language) if language else own
    except UnknownLanguage:
        found = own
    # "en" from a client means English, not American English: a British voice keeps its own.
    same = language is not None and found.partition("-")[0] == own.partition("-")[0] and "-" not in language
    return replace(voicing, voice=voice, language=own if same else found)
