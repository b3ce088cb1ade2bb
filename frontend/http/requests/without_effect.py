"""The fields of a request that have no effect: they are named in the answer, so that nobody waits for one in vain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import msgspec

from frontend.http.requests.kokoro_fastapi import options_without_effect
from frontend.http.requests.model_names import MODELS
from frontend.http.requests.schema import SpeechBody

HEADER = "X-Warning"
"""Header that names the fields without effect."""

_NAME = re.compile(r"[\w.\[\]-]{1,64}", re.ASCII)
_MOST = 12

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def unknown_in(body: bytes, kind: type[msgspec.Struct]) -> list[str]:
    """Fields of a JSON object, which was decoded as `kind` before, that the kind doesn't have."""
    return unknown_among(_decode(body), kind)


def unknown_among(names: Iterable[str], kind: type[msgspec.Struct]) -> list[str]:
    """The names that no field of the kind has."""
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    return [name for name in names if name not in known]


def dead_fields(fields: SpeechBody, unknown: Iterable[str] = ()) -> list[str]:
    """Fields that the request sets and that change nothing of its answer, and the `unknown` ones."""
    dead = {
        "model": fields.model is not None and fields.model not in MODELS,
        "instructions": fields.instructions not in (None, ""),
        "return_timing": bool(fields.return_timing),
        "download_format": fields.download_format is not None and not fields.return_download_link,
        "allow_voice_tags": bool(fields.allow_voice_tags) and fields.markup is not None,
        "ssml": bool(fields.ssml) and fields.markup is not None,
        "markup": fields.markup is not None and fields.phonemes is not None,
        "text": fields.input is not None and fields.text is not None,
        "format": fields.response_format is not None and fields.format is not None,
        "lang_code": fields.lang is not None and fields.lang_code is not None,
    }
    options = (f"normalization_options.{name}" for name in options_without_effect(fields.normalization_options))
    return [*unknown, *(name for name, is_dead in dead.items() if is_dead), *options]


def warning(names: Collection[str]) -> str:
    """The header's value: `no effect: instructions, foo`. Names that a header can't hold are left out, and counted."""
    shown = [name for name in names if _NAME.fullmatch(name)][:_MOST]
    rest = len(names) - len(shown)
    listed = ", ".join([*shown, *([f"{rest} more"] if rest else [])])
    return f"no effect: {listed}"
