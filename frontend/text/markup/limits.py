"""Limits of markup, and the notation of durations."""

from __future__ import annotations

import re

from frontend.text.markup.builder import MarkedBuilder

MIN_RATE, MAX_RATE = 0.25, 4.0
"""Limits of a speaking rate, the same as those of a request's speed."""

MAX_DEPTH = 32
"""Most SSML elements nested in each other."""

_TIME = re.compile(r"\+?(?P<number>\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s?(?P<unit>ms|s)")


def seconds_of(written: str) -> float | None:
    """Seconds of a duration such as `1.5s`, `300ms` or `+1s`; None if the text is no duration."""
    match = _TIME.fullmatch(written.strip())
    if match is None:
        return None
    return float(match["number"]) / (1000 if match["unit"] == "ms" else 1)


def over_limit(builder: MarkedBuilder, limit: float) -> str | None:
    """Error message if the pauses so far exceed the limit; None if they don't."""
    if builder.pause_seconds <= limit:
        return None
    return (
        f"the pauses up to here last {builder.pause_seconds:g} seconds; at most {limit:g} seconds of a request may be "
        "pauses. Shorten them, or split the text over requests."
    )
