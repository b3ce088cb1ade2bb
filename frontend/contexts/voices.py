"""The speech that a client of another service's protocol asks for, by the names of that service."""

from __future__ import annotations

from typing import Any

from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.contract.voices import checked_voice
from shm import request_id
from shm.engine_info import EngineInfo
from text.words.language import UnknownLanguage, language_of

MIN_SPEED, MAX_SPEED = 0.25, 4.0


def asked_speech(
    engine: EngineInfo, voice: str | None, language: str | None, *, speed: float | None = None, **more: Any
) -> SpeechRequest:
    """A request without its text.

    Args:
        voice: a voice, a blend, or one of OpenAI's names; None or empty: the engine's default.
        language: a language or locale; None, or one that the engine lacks, leaves the voice's own. A client that speaks
            to several services sends the language of its own settings, with voices of any language.
        speed: None: 1.
        more: other fields of the `SpeechRequest`.

    Raises:
        ApiError: 400, the voice or the speed.
    """
    pace = checked_speed(speed)
    blend = checked_voice(voice or None, engine)[1]
    own = language_of(blend, engine.voices)
    try:
        found = language_of(blend, engine.voices, language) if language else own
    except UnknownLanguage:
        found = own
    # "en" from a client means English, not American English: a British voice keeps its own.
    same = language is not None and found.partition("-")[0] == own.partition("-")[0] and "-" not in language
    named = {"request_id": request_id.current.get(), "text": "", "voice": blend, "language": own if same else found}
    if "timestamps" in more:
        more["timestamps"] &= engine.marks
    return SpeechRequest(**{**named, "speed": pace, **more})


def checked_speed(speed: float | None) -> float:
    """A speed within the limits; None is 1.

    Raises:
        ApiError: 400.
    """
    if speed is None:
        return 1.0
    if not MIN_SPEED <= speed <= MAX_SPEED:
        message = f"`speed` is {speed:g}; it must be between {MIN_SPEED} and {MAX_SPEED}."
        raise ApiError(400, message, param="speed", code="invalid_value")
    return speed
