"""Words for the fields of each class in a language of a locale."""

from __future__ import annotations

from text.normalization.classes.cover import InWords
from text.normalization.classes.fields import Clock, Elapsed, TimeSpan
from text.normalization.western.numbers import Written, joined, plural, spoken
from text.normalization.western.words import Locale

_UNITS = {"hour": ("h",), "minute": ("min",), "second": ("s",)}


def said(locale: Locale, fields: object) -> str:
    """Words for a candidate's fields."""
    match fields:
        case InWords():
            return fields.said
        case Clock():
            return _clock(locale, fields)
        case TimeSpan():
            return f"{_clock(locale, fields.first, last=False)} {locale.to} {_clock(locale, fields.last)}"
        case Elapsed():
            return _elapsed(locale, fields)
    raise TypeError(fields)


def _clock(locale: Locale, clock: Clock, last: bool = True) -> str:
    hour = locale.hour[clock.hours not in (0, 1)]
    noun = "" if locale.numbers == "it" and clock.hours != 1 else "hora" if locale.numbers != "it" else "ora"
    hours = locale.counted(locale.cardinal(clock.hours), "heure" if locale.numbers == "fr" else noun)
    hours = "una" if hours == "un'" and not clock.named else hours
    said = locale.clock[clock.minutes > 0].format(h=hours, hour=hour, m=locale.cardinal(clock.minutes))
    if not last and not clock.minutes and not locale.numbers:
        said = hours
    if clock.named and not clock.minutes and locale.numbers in ("es", "it") and not clock.half:
        said = joined(locale.counted(hours, locale.hour[0]) if clock.hours == 1 else hours, hour)
    if clock.seconds:
        said += f", {locale.cardinal(clock.seconds)}"
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
        forms, number = locale.all_units[_UNITS[unit]], Written(str(count), "", 0)
        form = forms[plural(locale, number)]
        parts.append(joined(spoken(locale, number, form), form))
    if locale.numbers == "fr" and elapsed.parts[-1][1] == "minute":
        parts[-1] = parts[-1].rpartition(" ")[0]
    joint = {"es": " y ", "it": " e ", "pt_BR": " e "}.get(locale.numbers, " ")
    return joint.join(filter(None, (", ".join(parts[:-1]), parts[-1])))
