"""English words for the fields of each class."""

from __future__ import annotations

import re

from text.locales.english import day_name, month_name
from text.locales.tables import table
from text.normalization.classes.calendar import (
    Clock,
    Date,
    Decades,
    Elapsed,
    MilitaryTime,
    MonthSpan,
    Ratio,
    TimeSpan,
    Weekday,
    Year,
)
from text.normalization.classes.quantities import Coordinate, Measure, Money, Multiple, Quantity, Sides
from text.normalization.classes.references import Digits, Height, Labelled, Score, Verse
from text.normalization.classes.roman import Numeral
from text.normalization.english.units import SPOKEN_PER, UNITS, powered
from text.normalization.number_words import cardinal, decade, digits, in_pairs, number, ordinal, two_digits, year

_TABLE = table("en", "currencies")
_CURRENCIES: dict[str, list[str]] = _TABLE["currencies"]
_DOLLARS_OF: dict[str, str] = _TABLE["dollars_of"]
_PERIODS: dict[str, str] = _TABLE["periods"]
_BOOKS: dict[str, str] = table("en", "abbreviations")["books"]
_HUNDREDS = re.compile(r"[1-9][1-9]00")


def said(fields: object, british: bool) -> str:
    """Words for a candidate's fields."""
    match fields:
        case Date():
            return _date(fields, british)
        case Clock():
            return _clock(fields, british)
        case TimeSpan():
            shared = bool(fields.first.half or fields.last.half)
            ends = [
                cardinal(end.hours, british)
                if shared and not end.half and not end.minutes and end.form != "word"
                else _clock(end, british)
                for end in (fields.first, fields.last)
            ]
            return " to ".join(ends)
        case MilitaryTime():
            hour = f"oh {cardinal(fields.hours, british)}" if fields.hours else "zero zero"
            return f"{hour} {two_digits(fields.minutes, british) if fields.minutes else 'hundred'}"
        case Elapsed():
            return _duration(fields, british)
        case MonthSpan():
            names = f"{month_name(fields.first)} to {month_name(fields.last)}"
            return f"{names} {year(fields.year, british)}" if fields.year else names
        case Weekday():
            return day_name(fields.day) + ("" if fields.last is None else f" to {day_name(fields.last)}")
        case Year():
            first = two_digits(fields.year, british) if fields.year < 100 else year(fields.year, british)
            last = two_digits(fields.last, british) if fields.last < 100 else year(fields.last, british)
            return f"{fields.before} {first}".strip() + (f" to {last}" if fields.last else "")
        case Decades():
            last = "" if fields.last is None else f" {fields.joint} {_decade(fields.last)}"
            return _decade(fields.first) + last
        case Ratio():
            joint = " " if fields.timed else " to "
            return f"{cardinal(fields.first, british)}{joint}{cardinal(fields.last, british)}"
        case Money():
            return _money(fields, british)
        case Measure():
            return _measure(fields, british)
        case Verse():
            return _verse(fields, british)
        case Labelled():
            return _labelled(fields, british)
        case Numeral():
            return _numeral(fields, british)
        case Digits():
            return digits(fields.digits)
        case Score():
            first, last = (
                "nil" if british and goals == "0" else number(goals, british) for goals in (fields.first, fields.last)
            )
            return f"{first} {last}" if british or first == last else f"{first} to {last}"
        case Height():
            return f"{number(fields.feet, british)} foot {number(fields.inches, british)}"
        case Coordinate():
            return _coordinate(fields, british)
        case Sides():
            return " by ".join(year(int(n), british) if len(n) == 4 else number(n, british) for n in fields.numbers)
        case Multiple():
            upper = f" to {_quantity(fields.last, british)}" if fields.last else ""
            return f"{_quantity(fields.first, british)}{upper} {'time' if fields.first.is_one else 'times'}"
    raise TypeError(fields)


def _quantity(quantity: Quantity, british: bool) -> str:
    words = number(quantity.number, british)
    return f"minus {words}" if quantity.minus else words


def _measure(measure: Measure, british: bool) -> str:
    names = UNITS[measure.unit]
    singular = measure.singular or (measure.first.is_one and measure.last is None)
    hundreds = measure.unit.lower() == "rpm" and not measure.first.grouped and _HUNDREDS.fullmatch(measure.first.number)
    words = in_pairs(measure.first.number, british) if hundreds else _quantity(measure.first, british)
    if measure.last:
        words += f" {'by' if measure.by else 'to'} {_quantity(measure.last, british)}"
    words += f" {powered(names[not singular], measure.power, british)}"
    if measure.per:
        words += f" per {powered(SPOKEN_PER.get(measure.per) or UNITS[measure.per][0], measure.per_power, british)}"
    return words


_NTH = ("", "First ", "Second ", "Third ")


def _verse(verse: Verse, british: bool) -> str:
    words = f"{_NTH[verse.nth]}{_BOOKS.get(verse.book, verse.book)} {cardinal(verse.chapter, british)}"
    if verse.first:
        words += f", {_in_hundreds(verse.first, british)}"
    return f"{words} to {_in_hundreds(verse.last, british)}" if verse.last else words


def _in_hundreds(value: int, british: bool) -> str:
    hundreds, rest = divmod(value, 100)
    return (
        f"{cardinal(hundreds, british)} {two_digits(rest, british)}" if hundreds and rest else cardinal(value, british)
    )


def _numeral(numeral: Numeral, british: bool) -> str:
    if numeral.kind != "count":
        nth = ordinal(numeral.value, british)
        return f"the {nth}" if numeral.kind == "nth" else nth
    words = f"{numeral.before}{cardinal(numeral.value, british)}"
    if numeral.last:
        words += f" {numeral.joint} {cardinal(numeral.last, british)}"
    return f"{words} {numeral.letter}" if numeral.letter else words


def _labelled(labelled: Labelled, british: bool) -> str:
    words = labelled.name
    for label in labelled.labels:
        if label == ",":
            words += label
        elif label.isalpha():
            words += f" {label}"
        elif label[0] == "#":
            words += f" {in_pairs(label[1:], british)}"
        else:
            parts = re.findall(r"[A-Z]|\d+", label)
            spoken = (
                p if p.isalpha() else in_pairs(p, british) if len(parts) > 1 else cardinal(int(p), british)
                for p in parts
            )
            words += f" {' '.join(spoken)}"
    return words


_WAYS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def _coordinate(coordinate: Coordinate, british: bool) -> str:
    words = []
    for value, name in ((coordinate.degrees, "degree"), (coordinate.minutes, "minute"), (coordinate.seconds, "second")):
        if value:
            bare = value.lstrip("0") or "0"
            words.append(f"{number(bare, british)} {name}{'' if bare == '1' else 's'}")
    return " ".join([*words, _WAYS[coordinate.way]])


def _money(money: Money, british: bool) -> str:
    names = _CURRENCIES[money.currency]
    if money.country:
        names = [f"{_DOLLARS_OF[money.country]} dollar", f"{_DOLLARS_OF[money.country]} dollars", "cent", "cents"]
    name = names[0 if money.singular else 1]
    first = number(money.first.number, british)
    if money.last:
        lower, upper = f"{first} {money.first_magnitude}".strip(), number(money.last.number, british)
        words = " ".join(filter(None, (lower, "to", upper, money.magnitude, name)))
    elif money.magnitude:
        words = f"{first} {money.magnitude} {name}"
    else:
        words = _with_hundredths(money, names, british)
    words = f"minus {words}" if money.first.minus else words
    words += " plus" * money.plus + f" {money.tail}" * bool(money.tail)
    return f"{words} per {_PERIODS.get(money.per, money.per)}" if money.per else words


def _with_hundredths(money: Money, names: list[str], british: bool) -> str:
    whole, _, fraction = money.first.number.partition(".")
    if fraction and (len(fraction) != 2 or len(names) < 4):
        return f"{number(money.first.number, british)} {names[1]}"
    units, hundredths = int(whole or 0), int(fraction or 0)
    words = []
    if units or not hundredths:
        words.append(f"{number(whole or '0', british)} {names[units != 1 and not money.singular]}")
    if hundredths:
        words.append(f"{cardinal(hundredths, british)} {names[3 if hundredths > 1 else 2]}")
    return " and ".join(words)


def _date(date: Date, british: bool) -> str:
    month = month_name(date.month)
    if not date.day:
        return f"{month} {year(date.year, british)}" if date.year else month
    nth = ordinal(date.day, british) + (f" to {ordinal(date.last_day, british)}" if date.last_day else "")
    words = f"{date.article or 'the'} {nth} of {month}" if date.day_first else f"{month} {nth}"
    if date.year:
        words += f", {year(date.year, british)}"
    if date.time:
        words += f", {_clock(date.time, british)}" + (" UTC" if date.utc else "")
    return words


def _clock(time: Clock, british: bool) -> str:
    """Time of day in words."""
    if time.form == "word":
        return "noon" if time.hours else "midnight"
    if not time.half and not time.minutes and time.hours in (0, 24) and not time.seconds:
        return "midnight"
    hour = cardinal(time.hours, british)
    if time.minutes:
        words = f"{hour} {two_digits(time.minutes, british)}"
    elif time.half:
        words = hour
    else:
        words = f"{hour} o'clock" if time.hours <= 12 else f"{hour} hundred"
    words = f"{words} {time.half}.m." if time.half else words
    if time.seconds:
        words += f" and {cardinal(time.seconds, british)} second{'' if time.seconds == 1 else 's'}"
    return words


def _duration(duration: Elapsed, british: bool) -> str:
    if duration.described:
        return " ".join(f"{cardinal(count, british)} {unit}" for count, unit in duration.parts)
    words = [f"{cardinal(count, british)} {unit}{'' if count == 1 else 's'}" for count, unit in duration.parts]
    return " and ".join([" ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _decade(first: int) -> str:
    if first < 100:
        return decade(first)
    return "two thousands" if first == 2000 else f"{cardinal(first // 100, False)} {decade(first % 100)}"
