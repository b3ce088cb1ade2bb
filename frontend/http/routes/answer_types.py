"""The JSON answers as types, for the description only: a test decodes the server's real answers with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from frontend.monitoring.status.report import Status as Status


class ErrorDetail(msgspec.Struct):
    """The reason for an error."""

    message: Annotated[str, Meta(description="The error, and a remedy.")]
    type: Literal["invalid_request_error", "server_error"]
    param: Annotated[str | None, Meta(description="The field that is wrong, where a single one is.")]
    code: Annotated[str | None, Meta(description="The same reason for programs; it doesn't change.")]


class Error(msgspec.Struct):
    """Every error, in the shape of OpenAI's API."""

    error: ErrorDetail


class Model(msgspec.Struct):
    """OpenAI's shape."""

    id: str
    object: Literal["model"]
    created: Annotated[int, Meta(description="Unix time of the weights' publication.")]
    owned_by: str


class ModelList(msgspec.Struct):
    """OpenAI's shape."""

    object: Literal["list"]
    data: list[Model]


class NamedModel(msgspec.Struct):
    """Open WebUI's shape."""

    id: str
    name: str


class AudioModels(msgspec.Struct):
    """Open WebUI's shape."""

    models: list[NamedModel]


class Voice(msgspec.Struct):
    """A voice of the engine."""

    id: str
    name: Annotated[str, Meta(description="The id again: some clients send back what they show.")]
    language: str
    gender: Annotated[str | None, Meta(description="null where the name says none.")]
    engine: str


class DownloadQuery(msgspec.Struct):
    """The query of a download."""

    name: Annotated[str, Meta(description="The name under which a browser saves the file.")] = ""


class Voices(msgspec.Struct):
    """Open WebUI's shape; with `?legacy=true` `voices` has names only."""

    voices: list[Voice | str]
    default_voice: str


BlendBody = str | list[str]
"""A blend, or the names of voices that have equal parts in one."""


class Blend(msgspec.Struct):
    """A blend of voices."""

    id: Annotated[str, Meta(description="The blend, as a request's `voice` takes it.")]
    name: Annotated[str, Meta(description="The id again.")]
    language: str
    engine: str
    voices: Annotated[dict[str, float], Meta(description="Each voice's part; the sum is 1.")]


class SsmlParts(msgspec.Struct):
    """The part of SSML that has an effect."""

    elements: Annotated[dict[str, str], Meta(description="Each element's effect.")]
    ignored: Annotated[list[str], Meta(description="Elements of which only the text is read.")]
    break_strengths: Annotated[dict[str, float], Meta(description="Seconds.")]
    prosody_rates: dict[str, float]
    rate_range: list[float]


class TaggedText(msgspec.Struct):
    """A text with tags."""

    text: str


class NamedVoice(Voice):
    """A voice with ElevenLabs' fields."""

    voice_id: Annotated[str, Meta(description="The id again.")]
    category: Literal["premade"]


class NamedVoices(msgspec.Struct):
    """Open WebUI's and ElevenLabs' shape."""

    voices: list[NamedVoice]


class Alive(msgspec.Struct):
    """The answer of a front that serves."""

    status: Literal["ok"]


class Ready(msgspec.Struct):
    """The engine in use."""

    ready: Literal[True]
    engine: str
    provider: str
    model: str


class NotReady(msgspec.Struct):
    """No engine speaks yet."""

    ready: Literal[False]
    reason: str


class TimedWord(msgspec.Struct):
    """The time at which a word sounds."""

    word: Annotated[str, Meta(description="The word as it is written in the text.")]
    said: Annotated[str, Meta(description="The word as it was read.")]
    start: Annotated[float, Meta(description="Seconds of the audio.")]
    end: float
    voice: Annotated[str | UnsetType, Meta(description="The voice that says it, where a text has several.")] = UNSET


class TimedMark(msgspec.Struct):
    """The time at which a mark of SSML is reached."""

    name: str
    time: Annotated[float, Meta(description="Seconds of the audio.")]


class TimedSpeech(msgspec.Struct):
    """Audio and its words, for `timestamps` with `stream`: `false`."""

    audio: Annotated[str, Meta(description="The file, base64.")]
    format: str
    sample_rate: int
    duration: Annotated[float, Meta(description="Seconds.")]
    words: list[TimedWord]
    marks: Annotated[list[TimedMark] | UnsetType, Meta(description="SSML's marks, if the text has any.")] = UNSET


class CaptionedWord(msgspec.Struct):
    """The time at which a word sounds, in Kokoro-FastAPI's form."""

    word: str
    start_time: float
    end_time: float
    said: str
    voice: Annotated[str | None, Meta(description="The voice that says it, with `allow_voice_tags`.")]


class CaptionedSpeech(msgspec.Struct):
    """Kokoro-FastAPI's shape: all of the audio."""

    audio: Annotated[str, Meta(description="Base64.")]
    audio_format: str
    timestamps: list[CaptionedWord] | None
    marks: Annotated[list[TimedMark] | UnsetType, Meta(description="SSML's marks, if the text has any.")] = UNSET


class CaptionedLine(msgspec.Struct):
    """One line of many: a part of the audio with words, or the error that ends an incomplete answer."""

    audio: Annotated[str | UnsetType, Meta(description="Base64; the last line may have words alone.")] = UNSET
    audio_format: str | UnsetType = UNSET
    timestamps: (
        Annotated[list[CaptionedWord], Meta(description="Words that begin in this line's audio or after it.")]
        | UnsetType
    ) = UNSET
    marks: Annotated[list[TimedMark], Meta(description="SSML's marks, in the same way.")] | UnsetType = UNSET
    error: Annotated[ErrorDetail, Meta(description="In the last line of incomplete audio, alone.")] | UnsetType = UNSET


class PronouncedWord(msgspec.Struct):
    """A word and its phonemes."""

    word: Annotated[str, Meta(description="The word after normalisation.")]
    phonemes: str
    source: Annotated[str, Meta(description="lexicon, user, espeak, letters, or none.")]


class Phonemized(msgspec.Struct):
    """The pronunciation of a text."""

    phonemes: Annotated[str, Meta(description="Can be sent in place of `input`.")]
    tokens: Annotated[list[int], Meta(description="The phonemes' numbers, as the model gets them.")]
    words: list[PronouncedWord]
    language: str
    unknown: Annotated[list[str], Meta(description="Characters of words for which there is no sound.")]


class Divided(msgspec.Struct):
    """A text in sentences."""

    paragraphs: Annotated[
        list[list[list[str]]],
        Meta(description="Paragraphs of lines of sentences; a line's sentences, joined, are the line."),
    ]
    language: str


class PlayAccepted(msgspec.Struct):
    """The place of an accepted text in the player's queue."""

    id: str
    position_in_queue: Annotated[int, Meta(description="Texts before this one; 0: it is being played.")]


class QueuedText(msgspec.Struct):
    """A text that waits."""

    id: str
    title: str
    source: str
    characters: int
    voice: str


class PlayState(msgspec.Struct):
    """The player's state; the fields about a text are null while there is none."""

    state: Literal["idle", "buffering", "playing", "paused"]
    id: str | None
    title: str | None
    source: str | None
    sentence: Annotated[str | None, Meta(description="The sentence that sounds, as it is written.")]
    sentence_number: Annotated[int | None, Meta(description="From 0.")]
    word: Annotated[str | None, Meta(description="The word that sounds, where the engine can tell.")]
    seconds: Annotated[float | None, Meta(description="Audio of the text before the sample that sounds.")]
    of: Annotated[float | None, Meta(description="Expected length of the text, in seconds.")]
    voice: str | None
    speed: float | None
    volume: float
    queue: list[QueuedText]
    device: Annotated[str | None, Meta(description="The output in use; null while none is open.")]
    reason: Annotated[str | None, Meta(description="Why a player that should play doesn't.")]


OpenApiDocument = dict[str, Any]
"""The OpenAPI document; its parts are defined by the OpenAPI specification."""
