"""`Accept`: the audio format that a request's header asks for, where its body names none.

Source: RFC 9110, section 12.5.1. Clients send more than they mean: a browser's player lists what it can play, SDKs say
`application/octet-stream` or `application/json`. Only a header that prefers one audio type chooses a format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.request import parse_http_list

from aiohttp import hdrs, web
from aiohttp.helpers import parse_mimetype

from frontend.audio.formats import ALL_NAMES, BY_TYPE, FORMATS, AudioFormat, OutputFormat, listed, output_of
from frontend.contract.errors import ApiError

ANY = ("audio/*", "*/*")
"""The ranges that hold every format, the narrower one first: it wins."""

NO_FORMAT = {
    "application/*",
    "application/json",
    "application/jsonl",
    "application/octet-stream",
    "application/x-ndjson",
    "text/event-stream",
}
"""Types of SDKs and of answers with events or errors, which say nothing about the audio."""

NEGOTIATED = web.RequestKey("NEGOTIATED", bool)
"""Set on a request for an audio file whose body names no format: its answer depends on `Accept`."""

_WEIGHT = re.compile(r"0?\.\d{1,3}|0\.?|1(\.0{0,3})?")
"""A weight; Java's own client leaves the 0 before the point out."""


def accepted(header: str, usual: AudioFormat, rate: int | None) -> OutputFormat | None:
    """The output that the header asks for; None where it leaves the choice to the server.

    Several formats of the same highest weight leave it too, if the usual one is acceptable at all: Firefox's player
    sends `audio/webm,audio/ogg,audio/wav,audio/*;q=0.9,*/*;q=0.5`, and isn't asking for Ogg.

    Args:
        usual: the format without a header.
        rate: the body's own sample rate, which wins over the parameter `rate`.

    Raises:
        ApiError: 406, it accepts no type that can be made; 400, the format doesn't have the body's rate.
    """
    ranges = list(_ranges(header))
    names = {name for name, _, _ in ranges}
    if not names or (names & NO_FORMAT and not any(name.startswith("audio/") or name in BY_TYPE for name in names)):
        return None
    weights: dict[AudioFormat, float] = {}
    rates: dict[AudioFormat, int | None] = {}
    for name, parameters, weight in ranges:
        row = BY_TYPE.get(name)
        if row and weight >= weights.get(row, 0.0) and _has(row, parameters):
            weights[row] = weight
            rates.setdefault(row, int(parameters["rate"]) if "rate" in parameters else None)
    wide = [weight for any_type in ANY for name, _, weight in ranges if name == any_type]
    for row in FORMATS.values():
        weights.setdefault(row, wide[0] if wide else 0.0)
    best = max(weights.values())
    if not best:
        types = (row.content_type for row in ALL_NAMES.values())
        message = f"`Accept` names no type that can be made here; ask for {listed(dict.fromkeys(types))}."
        raise ApiError(406, message, code="not_acceptable")
    preferred = [row for row, weight in weights.items() if weight == best]
    if (len(preferred) > 1 and weights[usual]) or (preferred == [usual] and usual not in rates):
        return None
    return output_of(preferred[0], rates.get(preferred[0]) if rate is None else rate)


async def vary(request: web.Request, response: web.StreamResponse) -> None:
    """The signal that tells caches that the answer, also a 406, depends on `Accept` (RFC 9110, section 12.5.5)."""
    if NEGOTIATED in request:
        response.headers[hdrs.VARY] = hdrs.ACCEPT


def _ranges(header: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    """Each media range with its parameters and weight; those that can't be read are passed over."""
    for part in parse_http_list(header):
        found = parse_mimetype(part)
        name = f"{found.type}/{found.subtype}" + (f"+{found.suffix}" if found.suffix else "")
        weight = found.parameters.get("q", "1")
        if found.subtype and _WEIGHT.fullmatch(weight):
            yield name, found.parameters, float(weight)


def _has(row: AudioFormat, parameters: Mapping[str, str]) -> bool:
    """True if the format can be had as the parameters want it."""
    codec = parameters.get("codecs", row.name).lower()
    if parameters.get("channels", "1") != "1" or codec not in (row.name, "1"):  # RFC 2361: 1 is PCM in a WAV
        return False
    try:
        output_of(row, int(parameters["rate"]) if "rate" in parameters else None)
    except (ApiError, ValueError):
        return False
    return True
