"""Unit names by symbol, in the singular and the plural."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import MASK, NUMBER, NUMBER_START, Draft
from text.normalization.english.maths import EXPONENT, power

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
_SINGLE = frozenset("LlsgdhK")
_PER = "|".join(
    re.escape(name) for name in sorted({*UNITS, *SPOKEN_PER}, key=len, reverse=True) if len(name) > 1 or name in _SINGLE
)
_POWERS = {"²": "square ", "2": "square ", "^2": "square ", "³": "cubic ", "3": "cubic ", "^3": "cubic ", None: ""}

_SCALED = re.compile(
    rf"(?:{NUMBER_START}(?P<base>{NUMBER}){EXPONENT}(?: (?!in\b)(?P<unit>{_SYMBOL})(?P<unit_power>[²³])?)?"
    rf"|(?<={MASK})(?= ?/))"
    rf"(?: ?/(?P<per>{_PER})(?P<per_power>[²³])?)?(?![\w{MASK}⁻^/'’²³])"
)


def units(draft: Draft) -> None:
    draft.replace(_SCALED, lambda match: _scaled(match, draft.british), "^*⁰¹²³⁴⁵⁶⁷⁸⁹/")


def _scaled(match: re.Match[str], british: bool) -> str | None:
    said = power(match, british) if match["base"] else ""
    if said is None or not (match["unit"] or match["per"]):
        return None
    if match["unit"]:
        said += f" {powered(UNITS[match['unit']][1], match['unit_power'], british)}"
    if per := match["per"]:
        said += f" per {powered(SPOKEN_PER.get(per) or UNITS[per][0], match['per_power'], british)}"
    return said


def powered(name: str, power: str | None, british: bool) -> str:
    if power and name.startswith("second"):
        return f"{name} {'squared' if power[-1] in '²2' else 'cubed'}"
    return _POWERS[power or None] + spelled(name, british)
