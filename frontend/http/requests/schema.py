"""The JSON bodies of requests for speech: one text, or a dialogue's turns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from frontend.audio.formats import MAX_SAMPLE_RATE, MIN_SAMPLE_RATE
from frontend.http.requests.kokoro_fastapi import NormalizationOptions, VoiceAliases, Volume
from frontend.http.sessions import OnBusy
from text.markup.marked import MarkupKind


class VoiceReference(msgspec.Struct):
    """OpenAI's other way to name a voice."""

    id: str


class SpeechBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names fields that aren't named here, which OpenAI's API ignores
    too."""

    model: str | None = None
    input: str | None = None
    text: str | None = None
    """Another name for `input`, which wins where both are given; likewise `format` for `response_format`."""
    voice: str | VoiceReference | None = None
    speed: Annotated[float, msgspec.Meta(ge=0.25, le=4.0)] | None = None
    response_format: str | None = None
    format: str | None = None
    sample_rate: Annotated[int, msgspec.Meta(ge=MIN_SAMPLE_RATE, le=MAX_SAMPLE_RATE)] | None = None
    stream_format: Literal["audio", "sse"] | None = None
    stream: bool | None = None
    lang: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    lang_code: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    """Another name for `lang`, which wins where both are given."""
    markup: MarkupKind | None = None
    """The notation of pauses, pronunciations, voices and pace in the text; absent: `basic`."""
    allow_voice_tags: bool | None = None
    """Another way to ask for the markup `tags`, and `ssml` for the markup `ssml` of documents; `markup` wins."""
    ssml: bool | None = None
    phonemes: str | None = None
    """Text in the model's own phonemes, given in place of `input`."""
    timestamps: Literal["word", "sentence"] | None = None
    """Asks for word times: as events, or with `stream`: false alongside the audio; `sentence` asks for events of
    sentences too."""
    from_sentence: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The first sentence to speak, with `timestamps`: sentence."""
    user: Annotated[str, msgspec.Meta(max_length=256)] | None = None
    """The listener's session, where there is no X-Session header."""
    on_busy: OnBusy | None = None
    """The fate of the same session's earlier responses that are still being sent."""
    volume_multiplier: Volume | None = None
    voice_aliases: VoiceAliases | None = None
    normalization_options: NormalizationOptions | None = None
    return_timestamps: bool | None = None
    """`false`: captioned speech without the times of its words."""
    return_download_link: bool | None = None
    """Asks for the header X-Download-Path, with a path under which the whole audio can be fetched afterwards."""
    download_format: str | None = None
    """The format of that download; absent: the response's own."""
    return_timing: bool | None = None
    """Without effect: `timestamps` gives the times of words."""
    priority: Literal["idle"] | None = None
    """`idle`: made while nobody listens, and refused with 429 or 503 while somebody does; for `stream`: false."""
    instructions: Any = None
    """Without effect: Kokoro takes no instructions."""


MAX_TURNS = 1000

MAX_TURN_PAUSE = 10.0
"""Most seconds of silence between two turns."""


class TurnBody(msgspec.Struct):
    """One voice's turn."""

    text: str
    voice: str | None = None
    voice_id: str | None = None
    """Another name for `voice`, which wins where both are given."""


Turns = Annotated[list[TurnBody], Meta(min_length=1, max_length=MAX_TURNS)]


class DialogueBody(SpeechBody):
    """The body's fields: those of a speech request, with `turns` in place of `input`."""

    turns: Turns | None = None
    inputs: Turns | None = None
    """Another name for `turns`, which wins where both are given."""
    pause_between_turns: Annotated[float, Meta(ge=0.0, le=MAX_TURN_PAUSE)] | None = None
