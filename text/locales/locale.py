"""Words and conventions of the languages that `text.normalization.western.western` normalises, one `Locale` each, from
their `locale.toml`; and the names of English months and days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import msgspec

from text.locales.tables import languages, table

_CALENDAR = table("en", "calendar")
_MONTHS: list[str] = _CALENDAR["months"]
_DAYS: list[str] = _CALENDAR["days"]

MONTH_NAMES = {name: name for name in _MONTHS} | {name[:3]: name for name in _MONTHS} | _CALENDAR["month_abbreviations"]
DAY_NAMES = {name[:3]: name for name in _DAYS} | _CALENDAR["day_abbreviations"]

MONTH = rf"(?:{'|'.join(sorted(MONTH_NAMES, key=len, reverse=True))})"
DAY = rf"(?:{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})"


def month_name(number: int) -> str:
    return _MONTHS[number - 1]


@dataclass(frozen=True, slots=True)
class Labels:
    """Words of one language that explain a number next to them."""

    parts: str
    """Pattern of a text's parts, before Roman numerals."""
    parts_ordinal: bool
    """True if a part's number is an ordinal ("capitolo quarto")."""
    masculine: str
    """Pattern of masculine nouns after a Roman numeral that is an ordinal ("XX Congreso")."""
    feminine: str
    """Pattern of such feminine nouns ("II Guerra Mundial")."""
    before_dates: str
    """Pattern of the words before a date without a year."""
    postcode: str
    """Pattern of the words before a postcode."""
    square: str
    cube: str
    centuries: str
    """Pattern of the plural of "century" with the word between two Roman numerals, which come around it; `{numeral}`
    stands for the first."""
    thousand: str
    million: str
    """Format of millions of a currency, with `{}` for the currency."""


@dataclass(frozen=True, slots=True)
class Locale:
    """Words, patterns and conventions of one language."""

    numbers: str
    """Language name in num2words."""
    point: str
    """Spoken word for the decimal separator."""
    months: tuple[str, ...]
    date: str
    """Format of a spoken date, with `{day}`, `{month}` and `{year}`."""
    first_day: str
    """Spoken form of the first day of a month."""
    hour: tuple[str, str]
    """Word for "hour" in a time of day: singular, plural."""
    hours_first: bool
    """True if a time names its hours ("14 heures 30"), False if it doesn't ("las 14 y 30")."""
    time_joint: str
    """Word between hours and minutes."""
    percent: str
    per: str
    to: str
    """Word between a range's ends."""
    joint: str
    """Word between units of money and hundredths."""
    signs: Mapping[str, str]
    """Spoken words for single signs in formulas and addresses."""
    currencies: Mapping[str, tuple[str, str]]
    hundredths: tuple[str, str]
    units: Mapping[str, tuple[str, str]]
    abbreviations: Mapping[str, str]
    one: Mapping[str, str]
    """Endings of cardinals before a masculine noun: uno → un."""
    ordinals: str
    """Pattern of ordinals' endings; the group `feminine` matches feminine endings."""
    century: str
    """Pattern of the words before or after a century's Roman numeral; `{numeral}` stands for the numeral."""
    century_ordinal: bool
    """True if centuries are counted with ordinals (XXIe siècle), False for cardinals (siglo XXI)."""
    rulers: str
    """Pattern of rulers' names, after which a Roman numeral is a ruler's number."""
    rulers_ordinal: bool
    feminine: tuple[str, str]
    """Ending of a masculine ordinal, and its replacement in the feminine."""
    labels: Labels


class _Locales(Mapping[str, Locale]):
    """Locales by the language code's first part, each read at its first use."""

    def __getitem__(self, language: str) -> Locale:
        if (found := _locale(language)) is None:
            raise KeyError(language)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(languages("locale"))

    def __len__(self) -> int:
        return len(languages("locale"))


@cache
def _locale(language: str) -> Locale | None:
    read = table(language, "locale")
    return msgspec.convert(read, Locale) if read else None


LOCALES: Mapping[str, Locale] = _Locales()
"""Locales by the language code's first part."""
