"""The voices and languages that requests name, checked against the engine that speaks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from frontend.contract.errors import ApiError
from frontend.contract.speaker import Speaker
from shm.engine_info import EngineInfo, VoiceInfo
from shm.messages import Voice
from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import UnknownVoice, VoiceError, parse_voice


@contextmanager
def refusing(param: str = "voice") -> Iterator[None]:
    """Answer an unknown voice or language with 400. `param`: the field that names the voice."""
    try:
        yield
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param=param, code=code) from error
    except UnknownLanguage as error:
        raise ApiError(400, str(error), param="lang", code="unknown_language") from error


def checked_voice(named: str | None, engine: EngineInfo) -> tuple[str, Voice]:
    """The voice's name, of the default voice where none is named, and its blend.

    Raises:
        ApiError: 400, the engine has no such voice.
    """
    name = engine.default_voice if named is None else named
    with refusing():
        return name, parse_voice(name, engine.voices)


def checked_language(voice: Voice, voices: Sequence[VoiceInfo], named: str | None) -> str:
    """The code of the named language, or of the voice's own where none is named.

    Raises:
        ApiError: 400, it is no language that can be spoken.
    """
    with refusing():
        return language_of(voice, voices, named)


def language_of_text(named: str | None, voice: str | None, speaker: Speaker) -> str:
    """espeak's code of a text's language; without one, the voice's own.

    While no engine speaks, a voice that none of the expected engines has is taken for the default language's.

    Raises:
        ApiError: 400, the engine has no such voice, or there is no such language.
    """
    if engine := speaker.engine:
        return checked_language(checked_voice(voice, engine)[1], engine.voices, named)
    blend: Voice = ()
    with contextlib.suppress(VoiceError):
        blend = parse_voice(voice or "", speaker.expected_voices)
    return checked_language(blend, speaker.expected_voices, named)
