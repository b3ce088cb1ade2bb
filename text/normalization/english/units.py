"""Unit names by symbol, in the singular and the plural."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import END, MASK, MINUS, NUMBER, NUMBER_START, Draft
from text.normalization.english.maths import EXPONENT, power
from text.normalization.number_words import is_one, number

_TABLE = table("en", "units")
UNITS: dict[str, tuple[str, str]] = {
    symbol: (name, f"{name}s") if isinstance(name, str) else (name[0], name[1])
    for symbol, name in _TABLE["units"].items()
}
"""Unit names by symbol, in the singular and the plural."""

SPOKEN_PER: dict[str, str] = _TABLE["per"]
"""Names of units that follow a slash, besides those of `UNITS`."""


def spelled(name: str, british: bool) -> str:
    """Unit name in American or British spelling: `kilometers` or `kilometres`."""
    if british:
        for unit in ("meter", "liter"):
            name = name.replace(unit, f"{unit[:-2]}re")
    return name


_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(UNITS, key=len, reverse=True))
_PER = "|".join(re.escape(name) for name in sorted({*UNITS, *SPOKEN_PER}, key=len, reverse=True))
_POWERS = {"²": "square ", "2": "square ", "^2": "square ", "³": "cubic ", "3": "cubic ", "^3": "cubic ", None: ""}

_SCALED = re.compile(
    rf"{NUMBER_START}(?P<base>{NUMBER}){EXPONENT} (?!in\b)(?P<unit>{_SYMBOL})(?P<unit_power>[²³])?"
    rf"(?:/(?P<per>{_PER})(?P<per_power>[²³])?)?(?![\w{MASK}⁻^/'’²³])"
)
_INVERSE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER}) ?(?:(?P<unit>{_SYMBOL})(?P<power>[²³])?[ ·⋅])?"
    rf"(?P<per>{_SYMBOL})⁻(?P<nth>[¹²³]){END}(?![⁰-⁹⁻])"
)


def units(draft: Draft) -> None:
    british = draft.british
    if draft.has("^*⁰¹²³⁴⁵⁶⁷⁸⁹"):
        draft.replace_numbers(_SCALED, lambda match: _scaled(match, british))
    if draft.has("⁻"):
        draft.replace_numbers(_INVERSE, lambda match: _inverse(match, british))


def _scaled(match: re.Match[str], british: bool) -> str | None:
    said = power(match, british)
    if said is None:
        return None
    said += f" {powered(UNITS[match['unit']][1], match['unit_power'], british)}"
    if per := match["per"]:
        said += f" per {powered(SPOKEN_PER.get(per) or UNITS[per][0], match['per_power'], british)}"
    return said


def _inverse(match: re.Match[str], british: bool) -> str:
    """Measure with a negative power of a unit: `nine point eight meters per second squared`."""
    said = number(match["number"], british)
    if match["minus"]:
        said = f"minus {said}"
    if match["unit"]:
        said += f" {powered(UNITS[match['unit']][not is_one(match['number'])], match['power'], british)}"
    nth = {"¹": None, "²": "²", "³": "³"}[match["nth"]]
    return f"{said} per {powered(UNITS[match['per']][0], nth, british)}"


def powered(name: str, power: str | None, british: bool) -> str:
    if power and name.startswith("second"):
        return f"{name} {'squared' if power[-1] in '²2' else 'cubed'}"
    return _POWERS[power or None] + spelled(name, british)
