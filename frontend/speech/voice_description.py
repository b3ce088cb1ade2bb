"""A voice's description, in the form of the API's voice list."""

from __future__ import annotations

from typing import TypedDict

from text.words.language import language_of

_GENDERS = {"f": "female", "m": "male"}


class VoiceDescription(TypedDict):
    """One entry of `GET /v1/audio/voices`."""

    id: str
    name: str
    language: str
    gender: str | None
    engine: str


def described(name: str, engine: str) -> VoiceDescription:
    """The description of a voice. Kokoro's names begin with language and gender: `af_` is American, female. Other names
    have no gender."""
    gender = _GENDERS.get(name[1]) if name[2:3] == "_" else None
    return {"id": name, "name": name, "language": language_of(((name, 1.0),)), "gender": gender, "engine": engine}
