"""The names that requests use for voices, languages and models, checked against the engine that speaks; and what a
request gets that names none."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from frontend.audio.formats import FORMATS, OutputFormat, output_of
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import Speaker
from frontend.serving.no_effect import no_effect_if
from frontend.settings.front import FrontSettings
from frontend.speech.manner import PLAIN_MANNER, MannerOfSpeaking
from shm import messages, request_id
from shm.audio import FASTEST, SLOWEST
from shm.engine_info import EngineInfo, VoiceInfo
from text.markup.meanings import clamped_rate
from text.words.language import UnknownLanguage, language_code, language_of
from text.words.voice_spec import UnknownVoice, VoiceError, parse_voice, preference

MODELS = ("kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""The model's own name, and the names that OpenAI's clients ask for. Requests with other names are answered too."""


def is_other_model(name: str, _: object) -> bool:
    """True for a name that the server doesn't know."""
    return name not in MODELS


MODEL_WORDS = no_effect_if(
    is_other_model,
    f"Any name is taken, and means the one model here. X-Warning names others than {', '.join(MODELS)}.",
)

log = logging.getLogger(__name__)


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


def usual_voice(engine: EngineInfo, settings: FrontSettings) -> str:
    """The voice of a request that names none: `--default-voice`, or the engine's own where it lacks that one."""
    try:
        if settings.default_voice and parse_voice(settings.default_voice, engine.voices):
            return settings.default_voice
    except VoiceError as error:
        _warn(f"--default-voice: {error}")
    return engine.default_voice


def native_voice(engine: EngineInfo, settings: FrontSettings, language: str | None, gender: str | None = None) -> str:
    """The voice of a request that names none, but perhaps a language and a gender: the usual voice if it fits, else the
    best one of that language, if possible of that gender; the usual one where no voice speaks the language."""
    usual = usual_voice(engine, settings)
    own = language_of(parse_voice(usual, engine.voices), engine.voices)
    try:
        wanted = language_code(language, engine.voices) if language else own
    except UnknownLanguage:
        return usual
    speaking = [voice for voice in engine.voices if voice.language == wanted]
    fitting = [voice for voice in speaking if gender in (None, voice.gender)] or speaking
    if wanted == own and (gender is None or usual in [voice.name for voice in fitting]):
        return usual
    return min(fitting, key=preference).name if fitting else usual


def usual_format(settings: FrontSettings) -> str:
    """The audio format of a request in OpenAI's form that names none."""
    return settings.default_format or "mp3"


def usual_output(settings: FrontSettings) -> OutputFormat | None:
    """The output of a one-shot call of another service that names none: `--default-format`; None: the service's own.

    A socket keeps its service's own output, because its messages don't say what they carry.
    """
    return output_of(FORMATS[settings.default_format]) if settings.default_format else None


@functools.cache
def _warn(message: str) -> None:
    log.warning(message)


def checked_voice(named: str | None, engine: EngineInfo, settings: FrontSettings) -> tuple[str, messages.Voice]:
    """The voice's name, of the default voice where none is named, and its blend.

    Raises:
        ApiError: 400, the engine has no such voice.
    """
    name = usual_voice(engine, settings) if named is None else named
    with refusing():
        return name, parse_voice(name, engine.voices)


def checked_language(voice: messages.Voice, voices: Sequence[VoiceInfo], named: str | None) -> str:
    """The code of the named language, or of the voice's own where none is named.

    Raises:
        ApiError: 400, it is no language that can be spoken.
    """
    with refusing():
        return language_of(voice, voices, named)


def language_of_text(named: str | None, voice: str | None, speaker: Speaker, settings: FrontSettings) -> str:
    """espeak's code of a text's language; without one, the voice's own.

    While no engine speaks, a voice that none of the expected engines has is taken for the default language's.

    Raises:
        ApiError: 400, the engine has no such voice, or there is no such language.
    """
    if engine := speaker.engine:
        return checked_language(checked_voice(voice, engine, settings)[1], engine.voices, named)
    blend: messages.Voice = ()
    with contextlib.suppress(VoiceError):
        blend = parse_voice(voice or "", speaker.expected_voices)
    return checked_language(blend, speaker.expected_voices, named)


def checked_speed(speed: float | None, settings: FrontSettings) -> float:
    """A request's speed, or the default one where it names none.

    Raises:
        ApiError: 400, it isn't within the limits.
    """
    if speed is None:
        return settings.default_speed
    if not SLOWEST <= speed <= FASTEST:
        message = f"`speed` is {speed:g}; it must be between {SLOWEST} and {FASTEST}."
        raise ApiError(400, message, param="speed", code="invalid_value")
    return speed


def asked_speech(
    engine: EngineInfo,
    settings: FrontSettings,
    voice: str | None,
    language: str | None,
    *,
    speed: float | None = None,
    gender: str | None = None,
    manner: MannerOfSpeaking = PLAIN_MANNER,
    **more: Any,
) -> SpeechRequest:
    """A request without its text, as a client of another service's protocol asks for it.

    Args:
        voice: a voice, a blend, or another service's name; None or empty: the one by language and gender.
        language: a language or locale; None, or one that the engine lacks, leaves the voice's own. A client that speaks
            to several services sends the language of its own settings, with voices of any language.
        gender: `female` or `male`: preferred, where no voice is named.
        manner: how it is to be said, at that speed.
        more: other fields of the `SpeechRequest`.

    Raises:
        ApiError: 400, the voice or the speed.
    """
    pace = clamped_rate(checked_speed(speed, settings) * manner.speed)
    blend = checked_voice(voice or native_voice(engine, settings, language, gender), engine, settings)[1]
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
    return SpeechRequest(**{**named, "speed": pace, "inflection": manner.inflection, **more})


class Voice(msgspec.Struct):
    """A voice of the engine."""

    id: str
    name: Annotated[str, Meta(description="The id again: some clients send back what they show.")]
    language: str
    gender: Annotated[str | None, Meta(description="null where the name says none.")]
    engine: str
    grade: Annotated[str | None, Meta(description="By the voice's authors, where it is B- or better: A is the best.")]


def described(voice: VoiceInfo, engine: str) -> Voice:
    """The entry of an engine's voice."""
    return Voice(voice.name, voice.name, voice.language, voice.gender, engine, voice.grade)
