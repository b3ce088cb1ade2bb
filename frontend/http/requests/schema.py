"""The JSON body of a speech request, decoded and checked as far as possible without an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from frontend.audio.formats import FORMATS, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, AudioFormat
from frontend.contract.errors import ApiError
from frontend.http.requests.json_body import read_json
from frontend.http.requests.kokoro_fastapi import NormalizationOptions, VoiceAlias, VoiceAliases, Volume, rules_off
from frontend.http.sessions import OnBusy
from shm.audio import SAMPLE_RATE
from text.markup.marked import MarkupKind
from text.markup.ssml import is_document
from text.normalization.settings import RULES


@dataclass(frozen=True, slots=True)
class TurnCall:
    """One turn of a dialogue; its voice isn't checked yet."""

    text: str
    voice: str | None
    """None: the request's voice."""


@dataclass(frozen=True, slots=True)
class SpeechCall:
    """A speech request whose fields are valid in themselves; its voice and language aren't checked yet."""

    text: str
    voice: str | None
    speed: float
    format: AudioFormat
    sample_rate: int
    """Sample rate in Hz; the format supports it."""
    events: bool
    """True if the audio is sent as server-sent events."""
    streamed: bool
    """True if the audio is sent while it is made; otherwise it is sent whole, with its length."""
    lang: str | None
    markup: MarkupKind
    phonemes: bool
    """True if `text` is phonemes of the model's vocabulary."""
    timestamps: bool
    """True if word times are wanted; with `sentences`, only from an engine that can tell them."""
    sentences: bool
    from_sentence: int
    captioned: bool
    """True if the answer has Kokoro-FastAPI's form."""
    session: str | None
    on_busy: OnBusy | None
    idle: bool
    """True if the speech is to be made while nobody listens."""
    volume: float = 1.0
    """Factor on the samples."""
    aliases: Mapping[str, VoiceAlias] = field(default_factory=dict)
    rules_off: tuple[str, ...] = ()
    """Normalisation rules that aren't applied, by the names of their settings."""
    download: AudioFormat | None = None
    """The format in which the audio is kept for a download afterwards; None: it isn't."""
    turns: tuple[TurnCall, ...] = ()
    """The turns of a dialogue; `text` is then all of their texts."""
    pause_between_turns: float = 0.0
    """Seconds; 0: as long as after any sentence."""

    @property
    def names_voices(self) -> bool:
        """True if the times of words name the voice that says each."""
        return self.markup is MarkupKind.TAGS or bool(self.turns)

    @property
    def plain(self) -> bool:
        """True if the response is the audio file and nothing else."""
        return not (self.events or self.timestamps or self.captioned)


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


_decode = msgspec.json.Decoder(SpeechBody).decode


def read_body(body: bytes) -> SpeechBody:
    """The fields of a JSON body, whatever its Content-Type.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode, body)


def speech_call(fields: SpeechBody, max_input_characters: int, *, captioned: bool = False) -> SpeechCall:
    """Check the fields against each other and against the formats.

    Args:
        captioned: the request is for captioned speech, which has timestamps in any form.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    text = _text(fields, max_input_characters)
    events = fields.stream_format == "sse"
    streamed = fields.stream is not False
    if events and not streamed:
        message = "`stream`: false has no events; leave it out, or `stream_format`."
        raise ApiError(400, message, param="stream", code="invalid_value")
    if fields.priority == "idle" and streamed:
        message = '`priority`: "idle" is for answers that nobody hears while they are made: add `stream`: false.'
        raise ApiError(400, message, param="priority", code="invalid_value")
    if fields.timestamps and streamed and not events and not captioned:
        message = '`timestamps`: the audio alone has no place for them; add `stream_format`: "sse", or `stream`: false.'
        raise ApiError(400, message, param="timestamps", code="invalid_value")
    sentences = fields.timestamps == "sentence"
    if sentences and not events:
        message = '`timestamps`: sentences come as events; add `stream_format`: "sse".'
        raise ApiError(400, message, param="timestamps", code="invalid_value")
    if fields.from_sentence is not None and not sentences:
        message = '`from_sentence` goes with `timestamps`: "sentence".'
        raise ApiError(400, message, param="from_sentence", code="invalid_value")
    audio_format = _response_format(fields)
    rate = _sample_rate(fields.sample_rate, audio_format)
    download = _format(fields.download_format, "download_format") or audio_format
    if fields.return_download_link:
        _sample_rate(rate, download)
    aliases = fields.voice_aliases or {}
    return SpeechCall(
        text=text,
        voice=fields.voice.id if isinstance(fields.voice, VoiceReference) else fields.voice,
        speed=1.0 if fields.speed is None else fields.speed,
        format=audio_format,
        sample_rate=rate,
        events=events,
        streamed=streamed,
        lang=fields.lang_code if fields.lang is None else fields.lang,
        markup=markup_of(fields, (text,)),
        phonemes=fields.phonemes is not None,
        timestamps=fields.return_timestamps is not False if captioned else fields.timestamps is not None,
        sentences=sentences,
        from_sentence=fields.from_sentence or 0,
        captioned=captioned,
        session=fields.user,
        on_busy=fields.on_busy,
        idle=fields.priority == "idle",
        volume=1.0 if fields.volume_multiplier is None else fields.volume_multiplier,
        aliases={name: VoiceAlias(alias) if isinstance(alias, str) else alias for name, alias in aliases.items()},
        rules_off=rules_off(fields.normalization_options, RULES),
        download=download if fields.return_download_link else None,
    )


def _text(fields: SpeechBody, max_input_characters: int) -> str:
    text = fields.text if fields.input is None else fields.input
    if text is not None and fields.phonemes is not None:
        message = "`input` and `phonemes` exclude each other: give one of them."
        raise ApiError(400, message, param="phonemes", code="invalid_value")
    what = "input" if fields.phonemes is None else "phonemes"
    text = fields.phonemes if text is None else text
    if text is None:
        raise ApiError(400, "`input` is missing: give the text to speak.", param="input", code="missing_required")
    if not text.strip():
        raise ApiError(400, f"`{what}` is blank: give something to speak.", param=what, code="unspeakable")
    if len(text) > max_input_characters:
        raise ApiError(
            400,
            f"`{what}` has {len(text)} characters; at most {max_input_characters} are taken. Split it over requests.",
            param=what,
            code="string_above_max_length",
        )
    return text


def markup_of(fields: SpeechBody, texts: Sequence[str]) -> MarkupKind:
    """The markup of a request's texts. `ssml` stays on in clients of Kokoro-FastAPI whatever they send: it counts for
    documents only."""
    if fields.markup is not None:
        return fields.markup
    if fields.ssml and any(map(is_document, texts)):
        return MarkupKind.SSML
    return MarkupKind.TAGS if fields.allow_voice_tags else MarkupKind.BASIC


def _response_format(fields: SpeechBody) -> AudioFormat:
    if fields.response_format is not None:
        return _format(fields.response_format, "response_format") or AudioFormat.MP3
    return _format(fields.format, "format") or AudioFormat.MP3


def _format(name: str | None, param: str) -> AudioFormat | None:
    if name is None:
        return None
    try:
        return AudioFormat(name)
    except ValueError:
        message = f"`{param}`: no audio format is called {name[:32]!r}; ask for {_listed(AudioFormat)}."
        raise ApiError(400, message, param=param, code="invalid_value") from None


def _sample_rate(wanted: int | None, audio_format: AudioFormat) -> int:
    rate = SAMPLE_RATE if wanted is None else wanted
    rates = FORMATS[audio_format].rates
    if rates and rate not in rates:
        message = f"`sample_rate`: {audio_format} has no {rate} Hz; ask for {_listed(map(str, rates))}."
        raise ApiError(400, message, param="sample_rate", code="unsupported_sample_rate")
    return rate


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"
