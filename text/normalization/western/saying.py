"""Words for the fields of each class in a language of a locale."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise, repeat

from text.normalization.classes.cover import InWords
from text.normalization.classes.fields import (
    Clock,
    Coordinate,
    Date,
    DateSpan,
    Decades,
    Elapsed,
    Height,
    Measure,
    MonthSpan,
    Multiple,
    Sides,
    TimeSpan,
    Weekday,
    Year,
)
from text.normalization.classes.numbers import Written
from text.normalization.classes.roman import Numeral
from text.normalization.classes.telephones import Identifier
from text.normalization.classes.versions import Version
from text.normalization.western.words import Locale, joined, per_words, plural, powered, spoken

_UNITS = {"hour": "h", "minute": "min", "second": "s"}


def said(locale: Locale, fields: object) -> str:
    """Words for a candidate's fields."""
    match fields:
        case InWords():
            return fields.said
        case Date():
            return _date(locale, fields)
        case DateSpan():
            return f"{_date(locale, fields.first)} {locale.to} {_date(locale, fields.last)}"
        case MonthSpan():
            names = f"{locale.months[fields.first - 1]} {locale.to} {locale.months[fields.last - 1]}"
            return f"{names}{_between(locale)}{locale.year(fields.year)}" if fields.year else names
        case Weekday():
            last = "" if fields.last is None else f" {locale.to} {locale.weekdays[fields.last]}"
            return locale.weekdays[fields.day] + last
        case Year():
            before = "FY " if fields.before.startswith("fiscal") else f"{fields.before} " if fields.before else ""
            last = f" {locale.to} {locale.year(fields.last)}" if fields.last else ""
            return before + locale.year(fields.year) + last
        case Decades():
            return locale.year(fields.first) + (f" {locale.to} {locale.year(fields.last)}" if fields.last else "")
        case Clock():
            return _clock(locale, fields)
        case TimeSpan():
            return f"{_clock(locale, fields.first, last=False)} {locale.to} {_clock(locale, fields.last)}"
        case Numeral():
            return _numeral(locale, fields)
        case Identifier():
            return _identifier(locale, fields)
        case Version():
            point = f" {locale.signs['.']} "
            number = locale.number(fields.stage_number) if fields.stage_number else ""
            words = (fields.name, point.join(map(locale.number, fields.parts)), fields.stage, number)
            return " ".join(filter(None, words)) + f" {locale.signs['+']}" * fields.plus
        case Measure():
            return _measure(locale, fields)
        case Sides():
            units = fields.units or repeat("")
            sides = [_counted(locale, number, unit) for number, unit in zip(fields.numbers, units, strict=False)]
            return f" {locale.by[not (fields.units or len(sides) > 2)]} ".join(sides)
        case Multiple():
            first = f"{spoken(locale, fields.first)} {locale.to} " if fields.last else ""
            times = fields.last or fields.first
            form = locale.times[plural(locale, times)]
            return f"{first}{spoken(locale, times, form)} {form}"
        case Height():
            meters = _counted(locale, Written(fields.feet), "m")
            return f"{meters} {locale.number(fields.inches)}"
        case Coordinate():
            bare = (number._replace(whole=number.whole.lstrip("0") or "0") for number in fields.parts)
            parts = [_counted(locale, number, unit) for number, unit in zip(bare, ("°", "min", "s"), strict=False)]
            return " ".join(filter(None, (*parts, locale.directions.get(fields.way))))
        case Elapsed():
            return _elapsed(locale, fields)
    raise TypeError(fields)


def _counted(locale: Locale, number: Written, unit: str, power: str = "", several: bool = False) -> str:
    """Number with its unit, or alone."""
    form = powered(locale, unit, power)[several or plural(locale, number)] if unit else ""
    said = spoken(locale, number, "" if unit in ("%", "‰") else form)
    return joined(said, form) if form else said


def _measure(locale: Locale, measure: Measure) -> str:
    if not measure.first.number:
        return powered(locale, measure.unit, measure.power)[1]
    first = ""
    if measure.last:
        first = spoken(locale, measure.first) + (f" {locale.joint_words(measure.joint)} " if measure.joint else ", ")
    last = measure.last or measure.first
    said = first + _counted(locale, last, measure.unit, measure.power, measure.last is not None)
    return said + per_words(locale, measure.per, measure.per_power, measure.per_count)


def _between(locale: Locale) -> str:
    """Words and spaces between a month and its year."""
    return locale.date.partition("{month}")[2].partition("{year}")[0]


def _date(locale: Locale, date: Date) -> str:
    day = locale.first_day if date.day == 1 else locale.cardinal(date.day)
    if date.last_day:
        day += f" {locale.to} {locale.cardinal(date.last_day)}"
    name = locale.months[date.month - 1]
    if not date.month:
        return day
    if not date.day:
        return f"{name}{_between(locale)}{locale.year(date.year)}" if date.year else name
    form = locale.date if date.year else locale.day_and_month
    words = form.format(day=day, month=name, year=locale.year(date.year))
    return f"{words}, {_clock(locale, date.time)}{' UTC' * date.utc}" if date.time else words


def _clock(locale: Locale, clock: Clock, last: bool = True) -> str:
    hour = locale.hour[clock.hours not in (0, 1)]
    noun = "" if locale.numbers == "it" and clock.hours != 1 else "hora" if locale.numbers != "it" else "ora"
    hours = locale.counted(locale.cardinal(clock.hours), "heure" if locale.numbers == "fr" else noun)
    hours = "una" if hours == "un'" and not clock.named else hours
    said = locale.clock[clock.minutes > 0].format(h=hours, hour=hour, m=locale.cardinal(clock.minutes))
    if not last and not clock.minutes and not locale.numbers:
        said = hours
    quarter = locale.quarters.get(str(clock.minutes)) if clock.named and not clock.seconds else None
    if quarter and 1 <= clock.hours <= 12:
        said = quarter.format(h=hours, next=locale.cardinal(clock.hours % 12 + 1))
        said = locale.quarters.get(f"{clock.hours}:{clock.minutes}", said)
    if clock.named and not clock.minutes and locale.numbers in ("es", "it") and not clock.half:
        said = joined(locale.counted(hours, locale.hour[0]) if clock.hours == 1 else hours, hour)
    if clock.seconds or clock.fraction:
        said += f", {spoken(locale, Written(str(clock.seconds), clock.fraction, 0), '')}"
    if clock.half:
        said += f" {_part_of_day(locale, clock)}"
    return f"{said} en punto" if clock.exact else said


def _part_of_day(locale: Locale, clock: Clock) -> str:
    morning, noon, afternoon, night = locale.parts_of_day
    if clock.half == "a":
        return night if clock.hours == 12 else morning
    if clock.hours == 12:
        return noon
    return night if clock.hours >= 8 else afternoon


def _elapsed(locale: Locale, elapsed: Elapsed) -> str:
    parts = []
    for count, unit in elapsed.parts:
        fraction = elapsed.fraction if unit == "second" else ""
        forms, number = locale.all_units[_UNITS[unit]], Written(str(count), fraction, 0)
        form = forms[plural(locale, number)]
        parts.append(joined(spoken(locale, number, form), form))
    if locale.numbers == "fr" and elapsed.parts[-1][1] == "minute":
        parts[-1] = parts[-1].rpartition(" ")[0]
    joint = {"es": " y ", "it": " e ", "pt_BR": " e "}.get(locale.numbers, " ")
    return joint.join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _identifier(locale: Locale, code: Identifier) -> str:
    groups = list(code.groups)
    if code.plus and len(groups[0]) > 4:
        groups[:1] = [groups[0][:2], groups[0][2:]]
    sizes = dict(rule.split(":") for rule in locale.cues.get("phone_groups", "").split()) if code.called else {}
    pairs = code.called and "pairs" in locale.cues.get("phone_style", "")
    said = []
    for group in groups:
        ends = accumulate(map(int, sizes.get(str(len(group)), "") or (len(group),)), initial=0)
        for part in (group[start:end] for start, end in pairwise(ends)):
            pair = pairs and len(part) == 2 and part[0] != "0"
            one_by_one = locale.digits(part) if part.isdecimal() else " ".join(part)
            said.append(locale.cardinal(int(part)) if pair else one_by_one)
    plus = f"{locale.signs.get('plus', locale.signs['+'])} " if code.plus else ""
    return plus + ", ".join(said)


def _numeral(locale: Locale, numeral: Numeral) -> str:
    words, value = locale.roman, numeral.value
    ordinal = {
        "century": words.get("ordinal_centuries"),
        "part": words.get("ordinal_parts"),
        "ruler": value <= int(words.get("ordinal_up_to", 0)) or value == 1,
        "nth": True,
    }
    if not ordinal.get(numeral.kind):
        return locale.cardinal(value)
    said = locale.ordinal(value, numeral.feminine)
    return re.sub("(?<=primer|tercer)o$", "", said) if numeral.noun and locale.numbers == "es" else said
