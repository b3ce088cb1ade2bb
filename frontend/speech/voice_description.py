"""A voice's description, in the form of the API's voice list."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from shm.engine_info import VoiceInfo


class Voice(msgspec.Struct):
    """A voice of the engine."""

    id: str
    name: Annotated[str, Meta(description="The id again: some clients send back what they show.")]
    language: str
    gender: Annotated[str | None, Meta(description="null where the name says none.")]
    engine: str


def described(voice: VoiceInfo, engine: str) -> Voice:
    """The entry of an engine's voice."""
    return Voice(voice.name, voice.name, voice.language, voice.gender, engine)
