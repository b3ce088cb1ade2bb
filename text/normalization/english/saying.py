"""English words for the fields of each class."""

from __future__ import annotations

from text.locales.english import day_name, month_name
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
from text.normalization.number_words import cardinal, decade, ordinal, two_digits, year


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
    raise TypeError(fields)


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
