"""The meaning of the request bodies' fields, merged into the schemas that are made of their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frontend.audio.formats import FORMATS, AudioFormat
from frontend.http.requests.model_names import MODELS
from text.words.voice_spec import OPENAI_VOICES

_FORMAT_NAMES = [*(name.value for name in AudioFormat), None]

_FIELDS: dict[str, dict[str, dict[str, Any]]] = {
    "JobForm": {},
    "SpeechBody": {
        "model": {
            "description": f"Any name is taken, and means the one model here. Clients know {', '.join(MODELS)}.",
            "examples": ["kokoro"],
        },
        "input": {"description": "The text to speak. Needed, unless `phonemes` is given.", "examples": ["Hello."]},
        "text": {"description": "Another name for `input`, which wins where both are given."},
        "voice": {
            "description": "A voice of `GET /v1/audio/voices`, a blend such as `af_heart(2)+af_bella(1)`, or one of "
            f"OpenAI's names: {', '.join(OPENAI_VOICES)}. The engine's best where it is left out.",
            "examples": ["af_heart", "af_heart(2)+af_bella(1)"],
        },
        "speed": {"description": "1 where it is left out."},
        "response_format": {
            "description": "The audio's format. mp3 where it is left out. pcm: signed 16-bit little-endian, mono.",
            "enum": _FORMAT_NAMES,
        },
        "format": {"description": "Another name for `response_format`, which wins.", "enum": _FORMAT_NAMES},
        "sample_rate": {
            "description": "In Hz; 24000 where it is left out. "
            + " ".join(f"{name} has {', '.join(map(str, info.rates))}." for name, info in FORMATS.items() if info.rates)
        },
        "stream_format": {"description": "`sse`: the audio comes as server-sent events, as OpenAI's API sends them."},
        "stream": {"description": "`false`: the audio comes whole, with its length; otherwise while it is made."},
        "lang": {
            "description": "The text's language, such as en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn; en means "
            "en-us. The voice's own where it is left out.",
            "examples": ["en-us"],
        },
        "lang_code": {"description": "Another name for `lang`, which wins where both are given."},
        "markup": {
            "description": "How pauses, pronunciations, voices and pace stand in `input`. `basic`, where it is left "
            "out: `[pause:1.5s]` and `[word](/ipa/)`, where they can't mean anything else. `tags`: these, "
            "`[voice:af_bella]` and `[rate:0.8]`; a tag with a fault is a 400. `ssml`: a useful part of SSML. `none`: "
            "everything is read out."
        },
        "allow_voice_tags": {"description": "`true` means `markup`: `tags`, where `markup` is left out."},
        "ssml": {
            "description": "`true` means `markup`: `ssml` for a text that is a document, where `markup` is left out."
        },
        "voice_aliases": {
            "description": "Names for voices, to be used in `voice`, in turns and in markup. A value is a voice, a "
            "blend, or an object with a pace of its own. Letter case doesn't matter.",
            "examples": [{"narrator": "af_bella(2)+af_sky", "old": {"voice": "am_michael", "rate": 0.8}}],
        },
        "volume_multiplier": {"description": "Factor on the samples; 1 where it is left out. Loud parts may clip."},
        "normalization_options": {"description": "Switches of normalisation for this text."},
        "phonemes": {"description": "In place of `input`: what to speak, in the model's own phonemes."},
        "timestamps": {
            "description": "When each word sounds: as `speech.audio.words` events with `stream_format`: `sse`, or "
            "with the audio for `stream`: `false`. 400 from an engine that can't tell. `sentence`, with `sse`: also "
            "`speech.audio.sentence` events, each before the audio in which the sentence begins, and no error. "
            "SSML's `mark`s come along, as `speech.audio.marks` events or as `marks`."
        },
        "from_sentence": {
            "description": "The number of the first sentence to speak, from 0, with `timestamps`: `sentence`."
        },
        "return_timestamps": {"description": "`false`: captioned speech without the times of its words."},
        "return_download_link": {
            "description": "`true`: the header `X-Download-Path` has a path at which the whole audio can be fetched "
            "once the response has ended."
        },
        "download_format": {
            "description": "The download's format; the response's where it is left out.",
            "enum": _FORMAT_NAMES,
        },
        "return_timing": {"description": "Taken and without effect: `timestamps` gives the times of words."},
        "user": {"description": "The session, where no X-Session header names it."},
        "priority": {"description": "`idle`: made while nobody listens, with `stream`: false."},
        "on_busy": {"description": "Treatment of the session's earlier requests that are still being sent."},
        "instructions": {"description": "Taken and without effect: Kokoro follows no instructions."},
    },
    "PhonemizeBody": {
        "input": {"description": "The text. Needed, unless `text` is given."},
        "text": {"description": "Another name for `input`, which wins where both are given."},
        "lang": {"description": "The text's language; the voice's own where it is left out.", "examples": ["en-us"]},
        "language": {"description": "Another name for `lang`, which wins where both are given."},
        "voice": {"description": "Says the language where none is named."},
        "markup": {"description": "The same field as in a speech request."},
    },
    "SentencesBody": {
        "paragraphs": {"description": "The text. No sentence goes from one paragraph into the next."},
        "lang": {"description": "The text's language; the voice's own where it is left out.", "examples": ["en-us"]},
        "voice": {"description": "Says the language where none is named."},
    },
    "PlayBody": {
        "input": {"description": "The text to play. Needed, unless `text` is given.", "examples": ["Hello."]},
        "text": {"description": "Another name for `input`, which wins where both are given."},
        "voice": {"description": "The same field as in a speech request."},
        "speed": {"description": "1 where it is left out."},
        "lang": {"description": "The same field as in a speech request."},
        "markup": {"description": "The same field as in a speech request."},
        "on_busy": {
            "description": "The place of the text while another one is being played. `interrupt`, the default: the "
            "other one ends with a short fade, and the queue stays; `queue`: after all others; `next`: after the "
            "one that is being played."
        },
        "title": {"description": "A name for people: media controls show it."},
        "source": {"description": "The program that asks."},
    },
    "PlayChangeBody": {
        "speed": {"description": "From the next sentence on, which is synthesised again."},
        "voice": {"description": "From the next sentence on."},
        "volume": {"description": "0 to 1, at once; it stays for later texts."},
        "seek": {"description": "Seconds in the text: the sentence that sounds then begins."},
        "sentence": {"description": "The number of the sentence that is to begin, from 0."},
    },
    "VoiceAlias": {
        "voice": {"description": "A voice or a blend."},
        "rate": {"description": "Its pace, times `speed`; 1 where it is left out."},
    },
    "NormalizationOptions": {
        "normalize": {"description": "`false`: the text is spoken as it is written."},
        "unit_normalization": {"description": "`false`: measures (`5 km`) are passed on as they are written."},
        "url_normalization": {
            "description": "`false`, with `email_normalization`: web and mail addresses are passed on as written."
        },
        "email_normalization": {"description": "Works together with `url_normalization`."},
        "phone_normalization": {"description": "`false`: telephone numbers are passed on as they are written."},
        "optional_pluralization_normalization": {"description": "Taken and without effect."},
        "caps_normalization": {"description": "Taken and without effect."},
        "replace_remaining_symbols": {"description": "Taken and without effect."},
        "remove_emoji": {"description": "Taken and without effect: `--normalize-emoji` decides."},
    },
    "TurnBody": {
        "text": {"description": "The text of the turn."},
        "voice": {"description": "The voice, a blend or an alias; the request's `voice` where it is left out."},
        "voice_id": {"description": "Another name for `voice`, which wins where both are given."},
    },
    "SsmlBody": {
        "text": {"description": "The document; a text without `<speak>` stays as it is."},
        "input": {"description": "Another name for `text`, which wins where both are given."},
        "voice": {
            "description": "The voice of the request that the result is meant for. Without it, voices and paces are "
            "left out."
        },
    },
    "VoiceReference": {"id": {"description": "The voice, as `voice` has it."}},
}


_TURNS: dict[str, dict[str, Any]] = {
    "turns": {
        "description": "The turns, in order. Needed, unless `inputs` is given.",
        "examples": [[{"text": "Hello."}]],
    },
    "inputs": {"description": "Another name for `turns`, which wins where both are given."},
    "pause_between_turns": {
        "description": "Seconds of silence between two turns; 0, or left out: as long as after any sentence."
    },
}

_IN_TURNS = {"description": "Not taken: a dialogue's text stands in its `turns`."}

FIELDS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    **_FIELDS,
    "DialogueBody": {
        **_FIELDS["SpeechBody"],
        **dict.fromkeys(("input", "text", "phonemes"), _IN_TURNS),
        "voice": {"description": "The voice of turns that name none."},
        **_TURNS,
    },
}
"""Descriptions by type and field; a test finds the fields that are missing here."""
