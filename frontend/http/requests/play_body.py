"""The JSON bodies of the player's operations."""

from __future__ import annotations

from typing import Annotated

import msgspec

from frontend.http.requests.json_body import read_json
from frontend.http.requests.schema import VoiceReference
from shm.playing import WhenBusy
from text.markup.marked import MarkupKind


class PlayBody(msgspec.Struct):
    """A text to play. `null` means absent; X-Warning names fields that aren't named here."""

    input: str | None = None
    text: str | None = None
    voice: str | VoiceReference | None = None
    speed: Annotated[float, msgspec.Meta(ge=0.25, le=4.0)] | None = None
    lang: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    markup: MarkupKind | None = None
    on_busy: WhenBusy | None = None
    title: Annotated[str, msgspec.Meta(max_length=256)] | None = None
    source: Annotated[str, msgspec.Meta(max_length=256)] | None = None


class PlayChangeBody(msgspec.Struct):
    """Changes of what is being played. `null` means absent."""

    speed: Annotated[float, msgspec.Meta(ge=0.25, le=4.0)] | None = None
    voice: str | VoiceReference | None = None
    volume: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    seek: Annotated[float, msgspec.Meta(ge=0)] | None = None
    sentence: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] | None = None


_decode_play = msgspec.json.Decoder(PlayBody).decode
_decode_change = msgspec.json.Decoder(PlayChangeBody).decode


def read_play(body: bytes) -> PlayBody:
    """The fields of a `POST /v1/play`.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode_play, body)


def read_change(body: bytes) -> PlayChangeBody:
    """The fields of a `PATCH /v1/play`.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode_change, body)
