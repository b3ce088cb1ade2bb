"""Speaks phrases ahead of any request and discards the audio, so that later requests find them in the cache."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import closing

from frontend.contract.errors import Overloaded, SpeechError, Unavailable
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import Speaker
from frontend.contract.urgency import Urgency
from text.words.language import language_of
from text.words.voice_spec import parse_voice

log = logging.getLogger(__name__)


async def prewarm(speaker: Speaker, phrases: Iterable[str]) -> None:
    """Speak each phrase once, with the default voice at speed 1, whenever no other stream is open."""
    for phrase in phrases:
        while not await _speak(speaker, phrase):
            pass


async def _speak(speaker: Speaker, phrase: str) -> bool:
    """True if the phrase is finished: spoken, or rejected for good. A phrase that lost its engine is tried again."""
    await speaker.idle()
    engine = speaker.engine
    if engine is None:
        return False
    voice = parse_voice(engine.default_voice, engine.voices)
    request = SpeechRequest("prewarm", phrase, voice, language_of(voice, engine.voices), 1.0, urgency=Urgency.IDLE)
    try:
        with closing(speaker.open(request)) as stream:
            async for _ in stream:
                pass
    except (Unavailable, Overloaded):
        return False
    except SpeechError as error:
        log.warning("a phrase can't be spoken ahead: %s", error)
    return True
