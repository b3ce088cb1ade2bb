"""Notations of inflections: the values of SSML's `prosody` and `emphasis`, and those of tags.

Values and names are those of SSML 1.1 (https://www.w3.org/TR/speech-synthesis11/, sections 3.2.2 and 3.2.4). What a
name such as `x-high` comes to is left to a synthesiser there: here it is a step that listeners tell apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise

from shm.inflection import MOST_DECIBELS, MOST_SEMITONES, QUIETEST_DECIBELS, WIDEST, Contour, Inflection

EMPHASES: Mapping[str, Inflection] = {
    "strong": Inflection(pitch=2.5, volume=3.0, stretch=1.25),
    "moderate": Inflection(pitch=1.5, volume=1.5, stretch=1.12),
    "reduced": Inflection(pitch=-1.5, volume=-2.0, stretch=0.9),
}
"""The effect of `emphasis` by level; `none` has none."""

STRESSES: Mapping[str, Inflection] = {
    "+2": EMPHASES["strong"],
    "+1": EMPHASES["moderate"],
    "+0.5": Inflection(pitch=0.8, volume=0.8, stretch=1.06),
    "-0.5": Inflection(pitch=-0.8, volume=-1.0, stretch=0.95),
    "-1": EMPHASES["reduced"],
    "-2": Inflection(pitch=-2.5, volume=-4.0, stretch=0.82),
}
"""The effect of `[word](+1)` by its number."""

PITCHES = {"x-low": -4.0, "low": -2.0, "medium": 0.0, "default": 0.0, "high": 2.0, "x-high": 4.0}
"""Semitones."""

RANGES = {"x-low": 0.4, "low": 0.7, "medium": 1.0, "default": 1.0, "high": 1.4, "x-high": 1.8}

VOLUMES = {
    "silent": QUIETEST_DECIBELS,
    "x-soft": -12.0,
    "soft": -6.0,
    "medium": 0.0,
    "default": 0.0,
    "loud": 3.0,
    "x-loud": 6.0,
}
"""dB."""

_VALUE = re.compile(
    r"(?P<sign>[+-])?(?P<number>\d{1,5}(?:\.\d{0,6})?|\.\d{1,6})\s?(?P<unit>%|st|semitones?|hz|db)?", re.I
)

_POINT = re.compile(r"\(\s*(?P<at>\d{1,3}(?:\.\d{0,4})?)%\s*,\s*(?P<pitch>[^()\s]{1,20})\s*\)")

LOWEST, HIGHEST = 40.0, 600.0
"""Hz: limits of an absolute pitch."""


USUAL_HERTZ = 170.0
"""Pitch from which a change in Hz is counted: one between men's and women's voices."""


def semitones_of(written: str) -> float | None:
    """Semitones of a change such as `+2st`, `-10%` or `+20Hz`, or of a name, an octave at most; None if it is none."""
    if (named := PITCHES.get(written.strip().lower())) is not None:
        return named
    match = _VALUE.fullmatch(written.strip())
    if match is None:
        return None
    number = float(f"{match['sign'] or ''}{match['number']}")
    unit = (match["unit"] or "st").lower()
    if unit in ("%", "hz") and match["sign"]:
        change = number / (100 if unit == "%" else USUAL_HERTZ)
        number = 12 * math.log2(1 + change) if change > -1 else -MOST_SEMITONES
    elif not unit.startswith("s"):
        return None
    return min(max(number, -MOST_SEMITONES), MOST_SEMITONES)


def hertz_of(written: str) -> float | None:
    """Hz of an absolute pitch such as `180Hz`; None if it is none, or none of a voice."""
    match = _VALUE.fullmatch(written.strip())
    if match is None or match["sign"] or (match["unit"] or "").lower() != "hz":
        return None
    hertz = float(match["number"])
    return hertz if LOWEST <= hertz <= HIGHEST else None


def range_of(written: str) -> float | None:
    """Factor on the pitch's range of a change such as `+50%`, of a factor such as `0.5`, or of a name."""
    if (named := RANGES.get(written.strip().lower())) is not None:
        return named
    match = _VALUE.fullmatch(written.strip())
    if match is None or match["unit"] not in (None, "%"):
        return None
    number = float(match["number"])
    if match["unit"]:
        number /= 100
        number = {"+": 1 + number, "-": 1 - number}.get(match["sign"], number)
    elif match["sign"]:
        return None
    return number if 0 <= number <= WIDEST else None


def decibels_of(written: str) -> float | None:
    """dB of a change such as `+6dB`, of a name, or of a level from 0 to 100 without a unit (SSML 1.0); 100 is the
    voice's own."""
    if (named := VOLUMES.get(written.strip().lower())) is not None:
        return named
    match = _VALUE.fullmatch(written.strip())
    if match is None:
        return None
    number = float(f"{match['sign'] or ''}{match['number']}")
    unit = (match["unit"] or "").lower()
    if unit == "%" or (not unit and not match["sign"]):
        factor = 1 + number / 100 if match["sign"] else number / 100
        number = 20 * math.log10(factor) if factor > 0 else QUIETEST_DECIBELS
    elif unit not in ("", "db"):
        return None
    return max(number, QUIETEST_DECIBELS) if number <= MOST_DECIBELS else None


def contour_of(written: str) -> Contour | None:
    """Contour such as `(0%,+2st) (50%,-10%) (100%,+0st)`; None if it is none, or its times don't rise."""
    points = []
    rest = _POINT.sub("", written).strip()
    for match in _POINT.finditer(written):
        semitones = semitones_of(match["pitch"])
        if semitones is None:
            return None
        points.append((float(match["at"]) / 100, semitones))
    rising = all(one[0] < other[0] for one, other in pairwise(points))
    return tuple(points) if points and not rest and rising and points[-1][0] <= 1 else None


def inflection_value(tag: str, written: str) -> float | None:
    """Value of the tag `pitch`, `range` or `volume`; None if it can't be read."""
    if tag == "volume" and (match := _VALUE.fullmatch(written.strip())) and not match["unit"]:
        written = f"{written.strip()}dB"
    return {"pitch": semitones_of, "range": range_of, "volume": decibels_of}[tag](written)
