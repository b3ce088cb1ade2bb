"""Words for the fields of each class in a language of a locale."""

from __future__ import annotations

from itertools import accumulate, pairwise, repeat

from text.normalization.classes import fields
from text.normalization.classes.codes import Version
from text.normalization.classes.cover import InWords
from text.normalization.classes.numbers import Written
from text.normalization.classes.roman import Numeral
from text.normalization.classes.telephones import Identifier
from text.normalization.western.words import Locale, joined, per_words, plural, powered, spoken

_LENGTHS = frozenset(("m", "cm", "mm", "km", "dm", "px", "inch", "ft", '"', "″", "po"))
_UNITS = {"hour": "h", "minute": "min", "second": "s"}
_MOST_GOALS = 40
"""Highest number of a score: 3 x 1, 25 x 18, where 800 x 600 are sides."""


def said(locale: Locale, item: object) -> str:
    match item:
        case InWords():
            return item.said
        case fields.Date():
            return _date(locale, item)
        case fields.Both():
            return f"{said(locale, item.first)} {locale.to} {said(locale, item.last)}"
        case fields.Weekday():
            return ", ".join(locale.weekdays[day] for day in (item.day, *item.others))
        case fields.Year():
            before = "FY " if item.before.startswith("fiscal") else f"{item.before} " if item.before else ""
            last = f" {locale.joint_words('to')} {locale.year(item.last)}".replace("  ", " ") if item.last else ""
            return before + locale.year(item.year) + last
        case fields.Decades():
            return locale.year(item.first)
        case fields.Clock():
            return _clock(locale, item)
        case fields.TimeSpan():
            to = locale.to if item.first.minutes or item.last.minutes else locale.joint_words("to")
            return f"{_clock(locale, item.first, last=False)} {to} {_clock(locale, item.last)}".replace("  ", " ")
        case Numeral():
            return _numeral(locale, item)
        case Identifier():
            return _identifier(locale, item)
        case Version():
            number = locale.number(item.stage_number) if item.stage_number else ""
            words = (item.name, f" {locale.signs['.']} ".join(map(locale.number, item.parts)), item.stage, number)
            return " ".join(filter(None, words)) + f" {locale.signs['+']}" * item.plus
        case fields.Measure():
            return _measure(locale, item)
        case fields.Sides():
            units = item.units or repeat("")
            sides = [_counted(locale, number, unit) for number, unit in zip(item.numbers, units, strict=False)]
            score = not item.units and len(sides) == 2 and all(int(n.whole) <= _MOST_GOALS for n in item.numbers)
            return f" {locale.by[score]} ".join(sides)
        case fields.Multiple():
            first = f"{spoken(locale, item.first)} {locale.to} " if item.last else ""
            times = item.last or item.first
            form = locale.times[plural(locale, times)]
            return f"{first}{spoken(locale, times, form)} {form}"
        case fields.Height():
            return f"{_counted(locale, Written(item.feet), 'm')} {locale.number(item.inches)}"
        case fields.Coordinate():
            bare = (number._replace(whole=number.whole.lstrip("0") or "0") for number in item.parts)
            parts = [_counted(locale, number, unit) for number, unit in zip(bare, ("°", "min", "s"), strict=False)]
            return " ".join(filter(None, (*parts, locale.directions.get(item.way))))
        case fields.Elapsed():
            return _elapsed(locale, item)
    raise TypeError(item)


def _counted(locale: Locale, number: Written, unit: str, power: str = "", several: bool = False) -> str:
    form = powered(locale, unit, power)[several or plural(locale, number)] if unit else ""
    said = spoken(locale, number, "" if unit in ("%", "‰") else form)
    return joined(locale, said, form) if form else said


def _measure(locale: Locale, measure: fields.Measure) -> str:
    if not measure.first.number:
        return powered(locale, measure.unit, measure.power)[1]
    first, joint = "", locale.joint_words(measure.joint)
    if measure.last:
        first = spoken(locale, measure.first) + (f" {joint} ".replace("  ", " ") if measure.joint else ", ")
    last = measure.last or measure.first
    if measure.joint == "by" and (measure.unit not in _LENGTHS or len(measure.first.whole) < 2 < int(last.whole) // 25):
        first = f"{spoken(locale, measure.first)} {locale.signs['×']} "  # 6x33 cl, 4x100 m
    said = first + _counted(locale, last, measure.unit, measure.power, measure.last is not None)
    return said + per_words(locale, measure.per, measure.per_power, measure.per_count)


def _date(locale: Locale, date: fields.Date) -> str:
    day = locale.first_day if date.day == 1 else locale.cardinal(date.day)
    if date.last_day:
        day += f" {locale.to if date.joint == 'to' else locale.signs['&']} {locale.cardinal(date.last_day)}"
    name = locale.months[date.month - 1]
    if not date.month:
        return day
    if not date.day:
        between = locale.date.partition("{month}")[2].partition("{year}")[0]
        return f"{name}{between}{locale.year(date.year)}" if date.year else name
    form = locale.date if date.year else locale.day_and_month
    words = form.format(day=day, month=name, year=locale.year(date.year))
    return f"{words}, {_clock(locale, date.time)}{' U T C' * date.utc}" if date.time else words


def _clock(locale: Locale, clock: fields.Clock, last: bool = True) -> str:
    hour = locale.hour[clock.hours != 1 and (clock.hours > 0 or locale.numbers in ("es", "it"))]
    hours = locale.counted(locale.cardinal(clock.hours), locale.hour[0])
    hours = "una" if hours == "un'" and not clock.named else hours
    said = locale.clock[clock.minutes > 0].format(h=hours, hour=hour, m=locale.cardinal(clock.minutes))
    if not last and not clock.minutes and not locale.numbers:
        said = hours
    quarter = locale.quarters.get(str(clock.minutes)) if (clock.named or clock.half) and not clock.seconds else None
    if quarter and 1 <= clock.hours <= 12:
        said = quarter.format(h=hours, next=locale.cardinal(clock.hours % 12 + 1))
        said = locale.quarters.get(f"{clock.hours}:{clock.minutes}", said)
    if clock.named and locale.numbers in ("es", "it")[clock.minutes > 0 :] and not clock.half:
        said = joined(locale, hours, hour)
        said += f" {locale.joint} {locale.cardinal(clock.minutes)}" * (clock.minutes > 0)  # 2h59 in treno
    if clock.seconds or clock.fraction:
        parts = ((clock.hours, "hour"), (clock.minutes, "minute"), (clock.seconds, "second"))
        second = f"{said}, {_counted(locale, Written(str(clock.seconds), clock.fraction), 's')}"
        said = _elapsed(locale, fields.Elapsed(parts, clock.fraction)) if locale.numbers else second
    if clock.half:
        since = clock.hours % 12 + 12 * (clock.half == "p")
        part = [part for start, part in locale.parts_of_day.items() if since >= int(start)][-1]
        said = f"{said} {part}" if locale.numbers else f"{part} {said}"
    return f"{said} {locale.cues['at']}" if clock.exact and not quarter else said


def _elapsed(locale: Locale, elapsed: fields.Elapsed) -> str:
    parts = []
    whole = [part for part in elapsed.parts if part[0] or (elapsed.fraction and part[1] == "second")]
    for count, unit in whole or elapsed.parts[-1:]:
        fraction = elapsed.fraction if unit == "second" else ""
        parts.append(_counted(locale, Written(str(count), fraction, 0), _UNITS[unit]))
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
            one_by_one = locale.digits(part) if part.isdecimal() else locale.spelled(part)
            said.append(locale.cardinal(int(part)) if pairs and len(part) == 2 and part[0] != "0" else one_by_one)
    plus = f"{locale.signs.get('plus', locale.signs['+'])} " if code.plus else ""
    return plus + ", ".join(said)


def _numeral(locale: Locale, numeral: Numeral) -> str:
    words, value = locale.roman, numeral.value
    ruler = numeral.kind == "ruler" and (value <= int(words.get("ordinal_up_to", 0)) or value == 1)
    listed = words.get({"century": "ordinal_centuries", "part": "ordinal_parts"}.get(numeral.kind, ""))
    if not (ruler or listed or numeral.kind == "nth"):
        return locale.cardinal(value)
    return locale.ordinal(value, numeral.feminine, numeral.noun)
