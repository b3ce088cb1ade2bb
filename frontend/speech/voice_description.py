"""A voice's description, in the form of the API's voice list."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from text.words.language import language_of

_GENDERS = {"f": "female", "m": "male"}


class Voice(msgspec.Struct):
    """A voice of the engine."""

    id: str
    name: Annotated[str, Meta(description="The id again: some clients send back what they show.")]
    language: str
    gender: Annotated[str | None, Meta(description="null where the name says none.")]
    engine: str


def described(name: str, engine: str) -> Voice:
    """The description of a voice. Kokoro's names begin with language and gender: `af_` is American, female. Other names
    have no gender."""
    gender = _GENDERS.get(name[1]) if name[2:3] == "_" else None
    return Voice(name, name, language_of(((name, 1.0),)), gender, engine)
