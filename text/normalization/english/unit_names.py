"""Unit names by symbol, in the singular and the plural."""

from __future__ import annotations

from text.locales.tables import table

_TABLE = table("en", "units")
UNITS: dict[str, tuple[str, str]] = {
    symbol: (name, f"{name}s") if isinstance(name, str) else (name[0], name[1])
    for symbol, name in _TABLE["units"].items()
}
"""Unit names by symbol, in the singular and the plural."""

THINGS = "|".join(_TABLE["things"].split())
"""Nouns that a measure without an article describes, so that its unit is singular: use 4 mm wire."""

ONLY_APART = frozenset(("K",))
"""Symbols that are units only after a space: 300 K is kelvin, 300K is three hundred thousand."""

ONLY_TOGETHER = frozenset(("s", "F"))
"""Symbols that are units only without a space before them; after a space they have too many other meanings."""

NEVER_APART = frozenset(("in", "MP"))
"""Symbols that are units after a space only with a full stop or another number (5 x 7 in)."""

SPOKEN_PER: dict[str, str] = _TABLE["per"]
"""Names of units that follow a slash, besides those of `UNITS`."""


def spelled(name: str, british: bool) -> str:
    """Unit name in American or British spelling: `kilometers` or `kilometres`."""
    if british:
        for unit in ("meter", "liter"):
            name = name.replace(unit, f"{unit[:-2]}re")
    return name
