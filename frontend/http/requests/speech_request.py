"""Turns a decoded body into a speech request: looks up voice and language, and checks limits."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import hdrs, web

from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.contract.urgency import Urgency
from frontend.http.access.identity import API_KEY
from frontend.http.requests.casting import casting_of
from frontend.http.requests.phonemes import check_phonemes
from frontend.http.requests.schema import SpeechCall
from shm import request_id
from shm.engine_info import EngineInfo
from shm.messages import Voice
from text.markup.limits import clamped_rate
from text.words.language import UnknownLanguage, language_of
from text.words.segment import Notation
from text.words.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice

MAX_SESSION = 256
"""Most characters of an X-Session header."""


def session_of(request: web.Request, call: SpeechCall) -> str | None:
    """The request's session: the X-Session header, or the body's `user`; None if neither is given.

    Sessions of different keys never meet, even under the same name.

    Raises:
        ApiError: 400, it is too long.
    """
    named = request.headers.get("X-Session") or call.session
    if named is None:
        return None
    if len(named) > MAX_SESSION:
        raise ApiError(400, f"X-Session is longer than {MAX_SESSION} characters.", code="invalid_session")
    return f"{request.get(API_KEY, '')}/{named}"


def speech_request(request: web.Request, call: SpeechCall, session: str | None, engine: EngineInfo) -> SpeechRequest:
    """The speech request, every field of it valid for the engine that speaks now.

    Raises:
        ApiError: 400, naming the field that isn't.
    """
    casting = casting_of(call, engine)
    performer = casting.performer
    if call.timestamps and not engine.marks and not call.sentences:
        message = f"`timestamps`: {engine.name} with {engine.model} doesn't say when its words sound."
        raise ApiError(400, message, param="timestamps", code="timestamps_unavailable")
    if call.phonemes:
        check_phonemes(call.text, Notation.of(engine))
    return SpeechRequest(
        request_id=request_id.current.get(),
        text=call.text,
        voice=performer.voice,
        language=performer.language,
        speed=clamped_rate(call.speed * performer.rate) if call.phonemes else call.speed,
        markup=call.markup,
        turns=casting.turns,
        aliases=casting.aliases,
        one_language=casting.one_language,
        rules_off=call.rules_off,
        phonemes=call.phonemes,
        timestamps=call.timestamps and engine.marks,
        sentences=call.sentences,
        from_sentence=call.from_sentence,
        client=f"session {session}" if session else _client(request),
        urgency=Urgency.IDLE if call.idle else Urgency.LISTENING if call.streamed else Urgency.WHOLE,
        fresh="no-store" in request.headers.get(hdrs.CACHE_CONTROL, "").lower(),
    )


def checked_voice(named: str | None, voices: Sequence[str]) -> tuple[str, Voice]:
    """The voice's name, of the default voice where none is named, and its blend.

    Raises:
        ApiError: 400, the engine has no such voice.
    """
    name = default_voice(voices) if named is None else named
    try:
        return name, parse_voice(name, voices)
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param="voice", code=code) from error


def checked_language(voice: Voice, named: str | None) -> str:
    """The code of the named language, or of the voice's own where none is named.

    Raises:
        ApiError: 400, it is no language that can be spoken.
    """
    try:
        return language_of(voice, named)
    except UnknownLanguage as error:
        raise ApiError(400, str(error), param="lang", code="unknown_language") from error


def _client(request: web.Request) -> str:
    """The client, if no session is named: its key, or its address and program."""
    return "/".join((request.get(API_KEY, ""), request.remote or "", request.headers.get(hdrs.USER_AGENT, "")))
