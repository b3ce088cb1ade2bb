"""Speaks phrases ahead of any request and discards the audio, so that later requests find them in the cache."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import closing

from frontend.contract.errors import Overloaded, SpeechError, Unavailable
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import Speaker
from shm.engine_info import EngineInfo

log = logging.getLogger(__name__)


Ask = Callable[[EngineInfo, str], SpeechRequest]


async def prewarm(speaker: Speaker, phrases: Iterable[str], ask: Ask) -> None:
    """Speak each phrase once, whenever no other stream is open. `ask` makes a phrase's request as for a client that
    names nothing."""
    for phrase in phrases:
        while not await _speak(speaker, phrase, ask):
            pass


async def _speak(speaker: Speaker, phrase: str, ask: Ask) -> bool:
    """True if the phrase is finished: spoken, or rejected for good. A phrase that lost its engine is tried again."""
    await speaker.idle()
    engine = speaker.engine
    if engine is None:
        return False
    try:
        with closing(speaker.open(ask(engine, phrase))) as stream:
            async for _ in stream:
                pass
    except (Unavailable, Overloaded):
        return False
    except SpeechError as error:
        log.warning("a phrase can't be spoken ahead: %s", error)
    return True
