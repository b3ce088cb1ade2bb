"""English words that several rules need: names of months, of days and of signs."""

from __future__ import annotations

import re

from text.locales.tables import table

_CALENDAR = table("en", "calendar")
_MONTHS: list[str] = _CALENDAR["months"]
_DAYS: list[str] = _CALENDAR["days"]

MONTH_NAMES = {name: name for name in _MONTHS} | {name[:3]: name for name in _MONTHS} | _CALENDAR["month_abbreviations"]
DAY_NAMES = {name[:3]: name for name in _DAYS} | _CALENDAR["day_abbreviations"]


def month_name(number: int) -> str:
    return _MONTHS[number - 1]


def day_name(number: int) -> str:
    """Weekday by its number, Monday being 0."""
    return _DAYS[number]


_SIGNS = table("en", "signs")
ADDRESS_SIGNS: dict[str, str] = _SIGNS["address_signs"]
"""Names of signs in web and mail addresses, where every sign is read."""

SIGNS: dict[str, str] = _SIGNS["signs"]
CURRENCY_NAMES: dict[str, str] = _SIGNS["currencies"]
MAGNITUDES: dict[str, str] = _SIGNS["magnitudes"]
ABBREVIATIONS: dict[str, str] = _SIGNS["abbreviations"]

ADDRESS_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
"""One part of an address: letters, digits or a sign."""
