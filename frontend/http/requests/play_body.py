"""The JSON bodies of the player's operations."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from frontend.http.requests.json_body import read_json
from frontend.http.requests.schema import VoiceReference
from shm.playing import WhenBusy
from text.markup.marked import MarkupKind


class PlayBody(msgspec.Struct):
    """A text to play. `null` means absent; X-Warning names fields that aren't named here."""

    input: Annotated[
        str | None, Meta(description="The text to play. Needed, unless `text` is given.", examples=["Hello."])
    ] = None
    text: Annotated[str | None, Meta(description="Another name for `input`, which wins where both are given.")] = None
    voice: Annotated[str | VoiceReference | None, Meta(description="The same field as in a speech request.")] = None
    speed: Annotated[Annotated[float, Meta(ge=0.25, le=4.0)] | None, Meta(description="1 where it is left out.")] = None
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None, Meta(description="The same field as in a speech request.")
    ] = None
    markup: Annotated[MarkupKind | None, Meta(description="The same field as in a speech request.")] = None
    on_busy: Annotated[
        WhenBusy | None,
        Meta(
            description="The place of the text while another one is being played. `interrupt`, the default: the "
            "other one ends with a short fade, and the queue stays; `queue`: after all others; `next`: after the "
            "one that is being played."
        ),
    ] = None
    title: Annotated[
        Annotated[str, Meta(max_length=256)] | None, Meta(description="A name for people: media controls show it.")
    ] = None
    source: Annotated[Annotated[str, Meta(max_length=256)] | None, Meta(description="The program that asks.")] = None


class PlayChangeBody(msgspec.Struct):
    """Changes of what is being played. `null` means absent."""

    speed: Annotated[
        Annotated[float, Meta(ge=0.25, le=4.0)] | None,
        Meta(description="From the next sentence on, which is synthesised again."),
    ] = None
    voice: Annotated[str | VoiceReference | None, Meta(description="From the next sentence on.")] = None
    volume: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="0 to 1, at once; it stays for later texts.")
    ] = None
    seek: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="Seconds in the text: the sentence that sounds then begins."),
    ] = None
    sentence: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000_000)] | None,
        Meta(description="The number of the sentence that is to begin, from 0."),
    ] = None


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
