"""Fields of numbers, dates, times, durations, measures and amounts of money."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from text.normalization.classes.numbers import Written

_NONE = Written("0")


class Both(NamedTuple):
    """Two items of a class, each said by itself: a span of dates, decades, numerals, …"""

    first: Any
    last: Any
    joint: str = "to"


class Measure(NamedTuple):
    """Number or two numbers with a unit; units by their symbols in the language's table."""

    first: Written
    """Without digits for a unit alone."""
    unit: str
    last: Written | None = None
    joint: str = "to"
    """Name of the word between the two numbers: to, by (5 x 7 cm), over, or, each; "" for a pause: 28/35 mpg."""
    power: str = ""
    per: str = ""
    per_power: str = ""
    singular: bool = False
    magnitude: str = ""
    """Word after the number: 24 billion km."""
    per_count: str = ""
    """Number before the unit after the slash: 250 mg/5 mL."""


class Coordinate(NamedTuple):
    parts: tuple[Written, ...]
    """Degrees, minutes and seconds, as far as they are written."""
    way: str
    """Direction of the compass: N, S, E or W; "" for an angle."""


class Height(NamedTuple):
    """Feet and inches, or meters and centimeters."""

    feet: str
    inches: str


class Sides(NamedTuple):
    """Numbers with an x between them (1920x1080), and the unit of each; "" if it has none."""

    numbers: tuple[Written, ...]
    units: tuple[str, ...] = ()
    singular: bool = False
    joint: str = "by"
    ways: tuple[str, ...] = ()
    """Wide, high or deep for each number; "" for none."""


class Multiple(NamedTuple):
    first: Written
    last: Written | None = None
    counts: bool = False
    """Number of things in a list: 2x HDMI."""


class Money(NamedTuple):
    currency: str
    """Sign or code of the language's table."""
    country: str = ""
    """Country before a dollar sign: HK in HK$5."""
    first: Written = _NONE
    magnitude: str = ""
    last: Written | None = None
    first_magnitude: str = ""
    per: str = ""
    plus: bool = False
    singular: bool = False
    tail: str = ""
    """What a hyphen joins to it: a night (a $100-a-night room)."""


class Clock(NamedTuple):
    hours: int
    minutes: int = 0
    seconds: int = 0
    half: str = ""
    """"a" or "p" for a.m. or p.m.; "" if the text has neither."""
    form: str = ""
    """"bare" for an hour that shares the half of a span's other end, "word" for noon and midnight (12 and 0)."""
    named: bool = False
    """A word or letter for hours stands after it: 14h."""
    exact: bool = False
    """It is said to be exact: a las 14:00."""
    fraction: str = ""
    """Digits after the seconds' point."""


class TimeSpan(NamedTuple):
    first: Clock
    last: Clock


class MilitaryTime(NamedTuple):
    hours: int
    minutes: int
    zone: str = ""
    """Name of the zone by the letter after it: Zulu."""


class Date(NamedTuple):
    """Parts of a date; 0 for a part that isn't written."""

    year: int = 0
    month: int = 0
    day: int = 0
    last_day: int = 0
    day_first: bool = False
    """It is said with the day first: the fifth of May."""
    article: str = ""
    """Article as it is written; none if the text has none."""
    time: Clock | None = None
    utc: bool = False
    joint: str = "to"
    """Word between two days: to, and."""


def full_year(written: str) -> int:
    """Year of four digits, or of the two that stand for one between 1940 and 2039."""
    year = int(written)
    return year if len(written) == 4 else year + (2000 if year < 40 else 1900)


def valid_date(year: int, month: int, day: int) -> Date | None:
    """Date of a day that the calendar has; None for any other."""
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    return Date(year, month, day)


class Weekday(NamedTuple):
    day: int
    others: tuple[int, ...] = ()
    """Days after slashes: Mon/Wed/Fri."""


class Year(NamedTuple):
    year: int
    last: int = 0
    """Last year of a span."""
    before: str = ""
    """Words before it, as they are said: fiscal year."""


class Decades(NamedTuple):
    """Decades by their first year, or by a number below a hundred if the century isn't written."""

    first: int


class Elapsed(NamedTuple):
    parts: tuple[tuple[int, str], ...]
    """Counts and units in the singular, longest unit first."""
    fraction: str = ""
    """Digits after the seconds' point."""
    described: bool = False
    """It describes a noun: a three hour twenty minute flight."""


class Ratio(NamedTuple):
    first: int
    last: int
    timed: bool = False
    """Minutes and seconds, which no word joins."""
    decimals: str = ""


class Ordinal(NamedTuple):
    number: int


class Fraction(NamedTuple):
    """Fraction, with its unit's symbol or noun; 0 if there is no whole number."""

    whole: int
    above: int
    below: int
    unit: str = ""
    described: bool = False
    """It describes a noun: a half-inch nail."""
    minus: bool = False


class Pair(NamedTuple):
    """Two numbers with a slash, and the words between them."""

    first: str
    last: str
    joint: str


class Span(NamedTuple):
    """Range of numbers as they are written, ungrouped."""

    first: str
    last: str
    joint: str = "to"
    magnitude: str = ""
    before: str = ""


class Number(NamedTuple):
    """Number as it is written, ungrouped, with what stands around it."""

    number: str
    before: str = ""
    magnitude: str = ""
    exponent: str = ""
    plus: bool = False
    one_by_one: bool = False
