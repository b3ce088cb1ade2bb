"""The casting of a request: the performers of its voice, of its aliases and of its turns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frontend.contract.errors import ApiError
from frontend.http.requests.schema import SpeechCall
from shm.engine_info import EngineInfo
from text.words.language import UnknownLanguage
from text.words.performer import Cast, DialogueTurn, Performer
from text.words.voice_spec import UnknownVoice, VoiceError, default_voice


@dataclass(frozen=True, slots=True)
class Casting:
    """All performers that a request names outside its texts."""

    performer: Performer
    """Performer of `voice`, or of the default voice."""
    aliases: tuple[tuple[str, Performer], ...]
    turns: tuple[DialogueTurn, ...]
    one_language: bool
    """The request names the language that all performers speak."""


def casting_of(call: SpeechCall, engine: EngineInfo) -> Casting:
    """The request's performers, all known to the engine.

    Raises:
        ApiError: 400, naming the field that isn't valid.
    """
    lang = call.lang if call.lang and call.lang.strip() else None
    voices = Cast(engine.voices, language=lang)
    aliases = {
        name: replace(_performer(voices, alias.voice, f"voice_aliases.{name[:64]}"), rate=alias.rate or 1.0)
        for name, alias in call.aliases.items()
    }
    cast = Cast(engine.voices, aliases, lang)
    performer = _performer(cast, default_voice(engine.voices) if call.voice is None else call.voice, "voice")
    return Casting(performer, tuple(aliases.items()), _turns(call, cast, performer), lang is not None)


def _turns(call: SpeechCall, cast: Cast, performer: Performer) -> tuple[DialogueTurn, ...]:
    """The turns of a dialogue; the whole text as one turn if its performer has a pace of its own; else none."""
    if not call.turns:
        return () if performer.rate == 1.0 or call.phonemes else (DialogueTurn(call.text, performer),)
    return tuple(
        DialogueTurn(
            turn.text,
            performer if turn.voice is None else _performer(cast, turn.voice, f"turns[{place}].voice"),
            call.pause_between_turns,
        )
        for place, turn in enumerate(call.turns)
    )


def _performer(cast: Cast, name: str, param: str) -> Performer:
    try:
        return cast.find(name)
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param=param, code=code) from error
    except UnknownLanguage as error:
        raise ApiError(400, str(error), param="lang", code="unknown_language") from error
