"""The meaning of the request bodies' fields, merged into the schemas that are made of their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frontend.audio.formats import FORMATS, AudioFormat
from frontend.http.catalog import MODELS
from frontend.text.voice_spec import OPENAI_VOICES

_FORMAT_NAMES = [*(name.value for name in AudioFormat), None]

FIELDS: Mapping[str, Mapping[str, dict[str, Any]]] = {
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
        "markup": {
            "description": "How pauses, pronunciations and pace stand in `input`: `tags` for `[pause:1.5s]` and "
            "`[word](/ipa/)`, `ssml` for a useful part of SSML. They are read out where it is left out."
        },
        "phonemes": {"description": "In place of `input`: what to speak, in the model's own phonemes."},
        "timestamps": {
            "description": "When each word sounds: as `speech.audio.words` events with `stream_format`: `sse`, or "
            "beside the audio with `stream`: `false`. 400 from an engine that can't tell. `sentence`, with `sse`: also "
            "`speech.audio.sentence` events, each before the audio in which the sentence begins, and no error."
        },
        "from_sentence": {
            "description": "The number of the first sentence to speak, from 0, with `timestamps`: `sentence`."
        },
        "user": {"description": "The session, where no X-Session header names it."},
        "priority": {"description": "`idle`: made while nobody listens, with `stream`: false."},
        "on_busy": {"description": "What happens to the session's earlier requests that are still being sent."},
        "instructions": {"description": "Taken and without effect: Kokoro follows no instructions."},
    },
    "PhonemizeBody": {
        "input": {"description": "The text. Needed, unless `text` is given."},
        "text": {"description": "Another name for `input`, which wins where both are given."},
        "lang": {"description": "The text's language; the voice's own where it is left out.", "examples": ["en-us"]},
        "language": {"description": "Another name for `lang`, which wins where both are given."},
        "voice": {"description": "Says the language where none is named."},
        "markup": {"description": "As in a speech request."},
    },
    "PlayBody": {
        "input": {"description": "The text to play. Needed, unless `text` is given.", "examples": ["Hello."]},
        "text": {"description": "Another name for `input`, which wins where both are given."},
        "voice": {"description": "As in a speech request."},
        "speed": {"description": "1 where it is left out."},
        "lang": {"description": "As in a speech request."},
        "markup": {"description": "As in a speech request."},
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
    "VoiceReference": {"id": {"description": "The voice, as `voice` has it."}},
}
"""Descriptions by type and field; a test finds the fields that are missing here."""
