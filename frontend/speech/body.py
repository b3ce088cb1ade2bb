"""The JSON bodies of requests for speech: one text or a dialogue, with Kokoro-FastAPI's fields besides OpenAI's."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from frontend.audio.formats import FORMATS, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE
from frontend.serving.no_effect import another_name, no_effect_if
from frontend.speech.scores import SpeechScore
from frontend.speech.sessions import OnBusy
from frontend.speech.voices import MODELS, is_other_model
from shm.engine_info import Speed
from shm.inflection import MOST_DECIBELS, MOST_SEMITONES, QUIETEST_DECIBELS, WIDEST
from text.markup.delimiters import MOST_CHARACTERS
from text.markup.marked import MarkupKind

MAX_VOLUME = 10.0

Volume = Annotated[float, Meta(ge=0.0, le=MAX_VOLUME)]


class VoiceAlias(msgspec.Struct):
    """A voice that a request gives a name and a pace of its own."""

    voice: Annotated[str, Meta(description="A voice or a blend.")]
    rate: Annotated[Speed | None, Meta(description="Its pace, times `speed`; 1 where it is left out.")] = None


VoiceAliases = Annotated[dict[str, str | VoiceAlias], Meta(max_length=64)]


def _asks_for_less(on: bool, options: NormalizationOptions) -> bool:
    return not on and options.normalize is not False


_ALWAYS_ON = no_effect_if(_asks_for_less, "Taken and without effect.")
"""A switch of which the server always does what true asks for, or what comes nearest to it."""


class NormalizationOptions(msgspec.Struct):
    """Switches of normalisation for one request. `null` and absent switches leave the server's settings as they are."""

    normalize: Annotated[bool | None, Meta(description="`false`: the text is spoken as it is written.")] = None
    unit_normalization: Annotated[
        bool | None, Meta(description="`false`: measures (`5 km`) are passed on as they are written.")
    ] = None
    url_normalization: Annotated[
        bool | None,
        no_effect_if(
            lambda on, options: not on and options.email_normalization is not False and options.normalize is not False,
            "`false`, with `email_normalization`: web and mail addresses are passed on as written.",
        ),
    ] = None
    email_normalization: Annotated[
        bool | None,
        no_effect_if(
            lambda on, options: not on and options.url_normalization is not False and options.normalize is not False,
            "Works together with `url_normalization`.",
        ),
    ] = None
    optional_pluralization_normalization: Annotated[bool | None, _ALWAYS_ON] = None
    phone_normalization: Annotated[
        bool | None, Meta(description="`false`: telephone numbers are passed on as they are written.")
    ] = None
    caps_normalization: Annotated[bool | None, _ALWAYS_ON] = None
    replace_remaining_symbols: Annotated[bool | None, _ALWAYS_ON] = None
    remove_emoji: Annotated[
        bool | None, no_effect_if(_asks_for_less, "Taken and without effect: `--normalize-emoji` decides.")
    ] = None


_RULES = {
    "unit_normalization": "units",
    "url_normalization": "web_addresses",
    "email_normalization": "web_addresses",
    "phone_normalization": "phones",
}
"""Rule that a switch turns off. Web and mail addresses are one rule: it stays on while either of them is wanted."""


def rules_off(options: NormalizationOptions | None, all_rules: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the settings whose rules the options turn off.

    Args:
        all_rules: the names of all rules' settings.
    """
    if options is None:
        return ()
    if options.normalize is False:
        return all_rules
    off = {rule for switch, rule in _RULES.items() if getattr(options, switch) is False}
    if options.url_normalization is not False or options.email_normalization is not False:
        off.discard("web_addresses")
    return tuple(sorted(off))


OPENAI_VOICES = "alloy, ash, ballad, coral, echo, fable, onyx, nova, sage, shimmer, verse, marin, cedar"
"""Names of OpenAI's voices; an engine's voices may have them as aliases."""

_FORMAT_NAMES = [*FORMATS, None]


class VoiceReference(msgspec.Struct):
    """OpenAI's other way to name a voice."""

    id: Annotated[str, Meta(description="The voice, as `voice` has it.")]


def _has_phonemes(_: object, body: SpeechBody) -> bool:
    return body.phonemes is not None


class SpeechBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names fields that aren't named here, which OpenAI's API ignores
    too."""

    model: Annotated[
        str | None,
        no_effect_if(
            is_other_model,
            f"Any name is taken, and means the one model here. Clients know {', '.join(MODELS)}.",
            examples=["kokoro"],
        ),
    ] = None
    input: Annotated[
        str | None, Meta(description="The text to speak. Needed, unless `phonemes` is given.", examples=["Hello."])
    ] = None
    text: Annotated[str | None, another_name("input")] = None
    voice: Annotated[
        str | VoiceReference | None,
        Meta(
            description="A voice of `GET /v1/audio/voices`, a blend such as `af_heart(2)+af_bella(1)`, or one of "
            f"OpenAI's names: {OPENAI_VOICES}. `--default-voice` where it is left out.",
            examples=["af_heart", "af_heart(2)+af_bella(1)"],
        ),
    ] = None
    speed: Annotated[Speed | None, Meta(description="The pace; `--default-speed` where it is left out.")] = None
    response_format: Annotated[
        str | None,
        Meta(
            description="The audio's format; `--default-format` where it is left out. pcm: signed 16-bit "
            "little-endian, mono.",
            extra_json_schema={"enum": _FORMAT_NAMES},
        ),
    ] = None
    format: Annotated[
        str | None,
        another_name("response_format", extra_json_schema={"enum": _FORMAT_NAMES}),
    ] = None
    sample_rate: Annotated[
        Annotated[int, Meta(ge=MIN_SAMPLE_RATE, le=MAX_SAMPLE_RATE)] | None,
        Meta(
            description="In Hz; 24000 where it is left out. "
            + " ".join(f"{name} has {', '.join(map(str, info.rates))}." for name, info in FORMATS.items() if info.rates)
        ),
    ] = None
    stream_format: Annotated[
        Literal["audio", "sse", "jsonl"] | None,
        Meta(
            description="`sse`: the audio comes as server-sent events, as OpenAI's API sends them. `jsonl`: as "
            "numbered lines of JSON."
        ),
    ] = None
    stream: Annotated[
        bool | None, Meta(description="`false`: the audio comes whole, with its length; otherwise while it is made.")
    ] = None
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        no_effect_if(
            _has_phonemes,
            "The text's language, such as en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn; en means "
            "en-us. The voice's own where it is left out.",
            examples=["en-us"],
        ),
    ] = None
    lang_code: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        no_effect_if(
            lambda _, body: body.lang is not None or body.phonemes is not None,
            "Another name for `lang`, which wins where both are given.",
        ),
    ] = None
    markup: Annotated[
        MarkupKind | None,
        no_effect_if(
            _has_phonemes,
            "How pauses, pronunciations, voices and pace stand in `input`. `basic`, where it is left "
            "out: `[pause:1.5s]` and `[word](/ipa/)`, where they can't mean anything else. `tags`: these, "
            "`[voice:af_bella]` and `[rate:0.8]`; a tag with a fault is a 400. `ssml`: a useful part of SSML. `none`: "
            "everything is read out.",
        ),
    ] = None
    allow_voice_tags: Annotated[
        bool | None,
        no_effect_if(
            lambda wanted, body: wanted and (body.phonemes is not None or body.markup not in (None, "tags")),
            "`true` means `markup`: `tags`, where `markup` is left out.",
        ),
    ] = None
    ssml: Annotated[
        bool | None,
        no_effect_if(
            lambda wanted, body: wanted and (body.phonemes is not None or body.markup not in (None, "ssml")),
            "`true` means `markup`: `ssml` for a text that is a document, where `markup` is left out.",
        ),
    ] = None
    phonemes: Annotated[
        str | None, Meta(description="In place of `input`: what to speak, in the model's own phonemes.")
    ] = None
    score: Annotated[
        SpeechScore | None, Meta(description="In place of `input`: the answer of `POST /v1/audio/score`, edited.")
    ] = None
    timestamps: Annotated[
        Literal["word", "sentence"] | None,
        Meta(
            description="When each word sounds: as `speech.audio.words` events with `stream_format`: `sse`, in "
            "the lines of `jsonl`, or with the audio for `stream`: `false`. 400 from an engine that can't tell. "
            "`sentence`, with `sse` or `jsonl`: also each sentence, before the audio in which it begins, and no error. "
            "SSML's `mark`s come along, as `speech.audio.marks` events or as `marks`."
        ),
    ] = None
    visemes: Annotated[
        bool | None,
        no_effect_if(
            lambda wanted, body: wanted and body.timestamps is None,
            "`true`, with `timestamps`: each word has the shapes of a mouth that says it, by Oculus' names and Azure's "
            "numbers.",
        ),
    ] = None
    from_sentence: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="The number of the first sentence to speak, from 0, with `timestamps`: `sentence`."),
    ] = None
    user: Annotated[
        Annotated[str, Meta(max_length=256)] | None,
        Meta(description="The session, where no X-Session header names it."),
    ] = None
    on_busy: Annotated[
        OnBusy | None, Meta(description="Treatment of the session's earlier requests that are still being sent.")
    ] = None
    volume_multiplier: Annotated[
        Volume | None, Meta(description="Factor on the samples; 1 where it is left out. Loud parts may clip.")
    ] = None
    pitch: Annotated[
        Annotated[float, Meta(ge=-MOST_SEMITONES, le=MOST_SEMITONES)] | None,
        Meta(description="Shift of the voice's pitch in semitones; 0 where it is left out."),
    ] = None
    volume: Annotated[
        Annotated[float, Meta(ge=QUIETEST_DECIBELS, le=MOST_DECIBELS)] | None,
        Meta(description="Change of the level in dB; 0 where it is left out. Loud parts are bent, and don't clip."),
    ] = None
    pitch_range: Annotated[
        Annotated[float, Meta(ge=0.0, le=WIDEST)] | None,
        Meta(
            description="How far the pitch moves from the mean, as a factor on what the voice does, as SSML's `range`; "
            "1 where it is left out. `expression` is a factor on it."
        ),
    ] = None
    emphasis: Annotated[
        Annotated[float, Meta(ge=0.0, le=2.0)] | None,
        no_effect_if(
            _has_phonemes,
            "How strongly the text's own signs inflect it (bold words, words in capitals, questions): 0 not at all, 2 "
            "twice as much; `--emphasis` where it is left out. Markup has its own.",
        ),
    ] = None
    expression: Annotated[
        Annotated[float, Meta(ge=0.0, le=2.0)] | None,
        Meta(
            description="How far the pitch moves, as a factor on what the voice does: 0 is a monotone, 1, where it is "
            "left out, the voice's own."
        ),
    ] = None
    voice_aliases: Annotated[
        VoiceAliases | None,
        Meta(
            description="Names for voices, to be used in `voice`, in turns and in markup. A value is a voice, a "
            "blend, or an object with a pace of its own. Letter case doesn't matter.",
            examples=[{"narrator": "af_bella(2)+af_sky", "old": {"voice": "am_michael", "rate": 0.8}}],
        ),
    ] = None
    pronunciations: Annotated[
        Annotated[dict[str, str], Meta(max_length=1000)] | None,
        no_effect_if(
            _has_phonemes,
            "How words of this text are said, by word: IPA between slashes, or other words. They precede the server's "
            "`--lexicon`.",
            examples=[{"nginx": "engine x", "Xochitl": "/ˈsoʊtʃiːl/"}],
        ),
    ] = None
    delimiters: Annotated[
        Annotated[str, Meta(max_length=MOST_CHARACTERS)] | None,
        no_effect_if(
            _has_phonemes,
            "Signs after which a segment ends besides the plan's own cuts, or a regular expression (RE2's) between "
            "slashes; `--delimiters` without the field.",
            examples=[";|", "/[.;] /"],
        ),
    ] = None
    normalization_options: Annotated[
        NormalizationOptions | None, no_effect_if(_has_phonemes, "Switches of normalisation for this text.")
    ] = None
    return_timestamps: Annotated[
        bool | None, Meta(description="`false`: captioned speech without the times of its words.")
    ] = None
    return_download_link: Annotated[
        bool | None,
        Meta(
            description="`true`: the header `X-Download-Path` has a path at which the whole audio can be fetched "
            "once the response has ended."
        ),
    ] = None
    download_format: Annotated[
        str | None,
        no_effect_if(
            lambda _, body: not body.return_download_link,
            "The download's format; the response's where it is left out.",
            extra_json_schema={"enum": _FORMAT_NAMES},
        ),
    ] = None
    return_timing: Annotated[
        bool | None,
        no_effect_if(lambda wanted, _: wanted, "Taken and without effect: `timestamps` gives the times of words."),
    ] = None
    priority: Annotated[
        Literal["file", "idle"] | None,
        Meta(
            description="`file`: nobody hears it while it is made, so it needs no real time: it is never rejected for "
            "lack of it, and takes what listeners leave, as any answer with `stream`: false does. `idle`: made while "
            "nobody listens, with `stream`: false."
        ),
    ] = None
    instructions: Annotated[
        Any,
        Meta(
            description="A few plain words on the manner of speaking: slower, very calm, excited, quiet, deeper. "
            "X-Warning names those that aren't understood."
        ),
    ] = None


MAX_TURNS = 1000

MAX_TURN_PAUSE = 10.0
"""Most seconds of silence between two turns."""


class TurnBody(msgspec.Struct):
    """One voice's turn."""

    text: Annotated[str, Meta(description="The text of the turn.")]
    voice: Annotated[
        str | None, Meta(description="The voice, a blend or an alias; the request's `voice` where it is left out.")
    ] = None
    voice_id: Annotated[
        str | None,
        no_effect_if(lambda _, turn: bool(turn.voice), "Another name for `voice`, which wins where both are given."),
    ] = None


Turns = Annotated[list[TurnBody], Meta(min_length=1, max_length=MAX_TURNS)]


class DialogueBody(SpeechBody):
    """The body's fields: those of a speech request, with `turns` in place of `input`."""

    turns: Annotated[
        Turns | None,
        Meta(description="The turns, in order. Needed, unless `inputs` is given.", examples=[[{"text": "Hello."}]]),
    ] = None
    inputs: Annotated[Turns | None, another_name("turns")] = None
    pause_between_turns: Annotated[
        Annotated[float, Meta(ge=0.0, le=MAX_TURN_PAUSE)] | None,
        no_effect_if(
            lambda _, body: len((body.inputs if body.turns is None else body.turns) or ()) < 2,
            "Seconds of silence between two turns; 0, or left out: as long as after any sentence.",
        ),
    ] = None
    voice: Annotated[
        str | VoiceReference | None,
        no_effect_if(
            lambda _, body: all(
                turn.voice or turn.voice_id for turn in (body.inputs if body.turns is None else body.turns) or ()
            ),
            "The voice of turns that name none.",
        ),
    ] = None
    input: Annotated[str | None, Meta(description="Not taken: a dialogue's text stands in its `turns`.")] = None
    text: Annotated[str | None, Meta(description="Not taken: a dialogue's text stands in its `turns`.")] = None
    phonemes: Annotated[str | None, Meta(description="Not taken: a dialogue's text stands in its `turns`.")] = None
    score: Annotated[SpeechScore | None, Meta(description="Not taken: a dialogue's text stands in its `turns`.")] = None
