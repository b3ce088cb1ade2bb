"""The meaning of the fields and parameters of the other services' calls, for the schemas of their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frontend.http.requests.model_names import MODELS

_MODEL = {
    "description": f"Any name is taken, and means the one model here. X-Warning names others than {', '.join(MODELS)}."
}

DIALECT_FIELDS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "ElevenLabsBody": {
        "text": {"description": "The text to speak."},
        "model_id": _MODEL,
        "language_code": {"description": "The text's language; the voice's own where it is left out."},
        "voice_settings": {"description": "`speed` has an effect."},
        "apply_text_normalization": {
            "description": "`off`: numbers, dates and abbreviations are passed on as they are written.",
            "enum": ["auto", "on", "off", "", None],
        },
    },
    "ElevenLabsSettings": {"speed": {"description": "1 where it is left out."}},
    "ElevenLabsQuery": {
        "output_format": {"description": "Such as mp3_44100_128 (the default), pcm_24000, opus_48000_64 or ulaw_8000."},
    },
    "ElevenLabsSocketQuery": {
        "output_format": {"description": "Such as mp3_44100_128 (the default), pcm_24000, opus_48000_64 or ulaw_8000."},
        "language_code": {"description": "The texts' language; the voice's own where it is left out."},
        "apply_text_normalization": {
            "description": "`off`: numbers, dates and abbreviations are passed on as they are written."
        },
        "enable_ssml_parsing": {"description": "`true`: texts are SSML."},
        "auto_mode": {"description": "`true`: each message is a whole text, spoken at once."},
        "inactivity_timeout": {"description": "Seconds without a message after which the socket is closed: 1 to 180."},
    },
    "CartesiaBody": {
        "transcript": {"description": "The text to speak."},
        "voice": {"description": 'A voice as `{"mode": "id", "id": "af_heart"}`, or its name.'},
        "model_id": _MODEL,
        "output_format": {"description": "Bare samples of 16 bits at 24 kHz where it is left out."},
        "language": {"description": "The text's language; the voice's own where it is left out."},
        "generation_config": {"description": "`speed` has an effect."},
        "speed": {"description": "A factor, or slowest, slow, normal, fast or fastest; `generation_config` wins."},
    },
    "CartesiaVoice": {
        "id": {"description": "The voice's name."},
        "mode": {"description": "`id`."},
    },
    "CartesiaOutput": {
        "container": {"description": "`raw` (the default), `wav` or `mp3`."},
        "encoding": {"description": "The encoding of `raw`: pcm_s16le (the default), pcm_f32le, pcm_mulaw, pcm_alaw."},
        "sample_rate": {"description": "In Hz; 24000, or 8000 for mulaw and alaw, where it is left out."},
        "bit_rate": {"description": "Bits per second of mp3."},
    },
    "CartesiaGeneration": {"speed": {"description": "1 where it is left out."}},
    "DeepgramBody": {"text": {"description": "The text to speak."}},
    "DeepgramSocketQuery": {
        "model": {"description": "The voice."},
        "encoding": {"description": "`linear16` (the default), `mulaw` or `alaw`."},
        "sample_rate": {"description": "In Hz; 24000, or 8000 for mulaw and alaw, where it is left out."},
        "speed": {"description": "1 where it is left out."},
    },
    "DeepgramQuery": {
        "model": {"description": "The voice."},
        "encoding": {"description": "`mp3` (the default), `opus`, `aac`, `flac`, `linear16`, `mulaw` or `alaw`."},
        "container": {"description": "`wav` (the default) or `none`, for linear16."},
        "sample_rate": {"description": "In Hz; 24000, or 8000 for mulaw and alaw, where it is left out."},
        "bit_rate": {"description": "Bits per second of mp3, opus and aac."},
        "speed": {"description": "1 where it is left out."},
    },
}
"""Descriptions by type and field."""
