"""Parsers of dates, months, weekdays, years, times of day, spans of time and durations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.western.numbers import Written, glued, joined, plural, spoken
from text.normalization.western.words import Locale

_JOINTS = frozenset("/.-–")
_FIRST = frozenset(("º", "°", "er", "o", "ro"))


class _Clock(NamedTuple):
    hours: int
    minutes: int
    seconds: int
    after: int
    colon: bool
    """Written with a colon or h, not a full stop."""
    half: str
    named: bool
    """An h stands after it."""


class DateParser:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._months, self._days = locale.month_numbers, locale.day_numbers
        self._full = frozenset(name.casefold() for name in (*locale.months, *locale.weekdays))
        self.starts = frozenset(self._months) | frozenset(self._days)

    def _cued(self, line: Tokens, place: int, name: str) -> bool:
        return line[place].fold in self._locale.cue.get(name, ())

    def _day(self, number: int) -> str:
        return self._locale.first_day if number == 1 else self._locale.cardinal(number)

    def _said(self, day: int, month: int, year: int) -> str:
        locale = self._locale
        name = locale.months[month - 1]
        if year:
            return locale.date.format(day=self._day(day), month=name, year=locale.year(year))
        return locale.day_and_month.format(day=self._day(day), month=name)

    def dates(self, line: Tokens, place: int) -> Iterator[Classed]:
        token = line[place]
        if token.kind == "d":
            yield from self._numeric(line, place)
            yield from self._named(line, place)
        elif token.fold in self._days and token.kind == "w":
            yield from self._weekday(line, place)
        if token.fold in self._months and token.kind == "w":
            yield from self._month(line, place)

    def _numeric(self, line: Tokens, place: int) -> Iterator[Classed]:
        parts, after, sign = [line[place].text], place + 1, line[place + 1].text
        if line[place].kind != "d" or not sign or sign not in _JOINTS:
            return
        while len(parts) < 4 and line.has(after, sign, glued=True) and glued(line, after + 1):
            parts.append(line[after + 1].text)
            after += 2
        widths = [len(part) for part in parts]
        numbers = [int(part) for part in parts if len(part) <= 4]
        if len(numbers) != len(parts):
            return
        if len(parts) == 3 and widths[0] == 4 and max(widths[1:]) < 3:
            year, month, day = numbers
        elif len(parts) == 3 and max(widths[:2]) < 3 and widths[2] in (2, 4):
            day, month, year = numbers
            if month > 12 >= day:
                day, month = month, day
            if widths[2] == 2:
                if sign == "." and not self._cued(line, place - 1, "date"):
                    return
                year += 2000 if year < 70 else 1900
        elif len(parts) == 2 and sign in "/." and max(widths) < 3:
            day, month, year = numbers[0], numbers[1], 0
            if not self._is_short_date(line, place, after, parts, sign):
                return
        elif len(parts) == 2 and line.cued(place, self._locale.cue.get("laws", frozenset()), 6):
            return
        elif len(parts) == 2 and sign == "/" and widths[0] < 3 and widths[1] == 4 and 1900 <= numbers[1] < 2100:
            month, year = numbers
            if 1 <= month <= 12:
                joint = self._locale.date.partition("{month}")[2].partition("{year}")[0]
                said = f"{self._locale.months[month - 1]}{joint}{self._locale.year(year)}"
                yield Classed(place, after, InWords("Date", said), 0.3)
            return
        else:
            return
        if 1 <= day <= 31 and 1 <= month <= 12 and (not year or 1000 <= year < 2999):
            dash = line[after]
            if dash.fold in DASHES and dash.fold and dash.gap == line[after + 1].gap:
                for last in self._numeric(line, after + 1):
                    said = f"{self._said(day, month, year)} {self._locale.to} {last.fields.said}"  # type: ignore[attr-defined]
                    yield Classed(place, last.last, InWords("DateSpan", said), 0.25)
            yield Classed(place, after, InWords("Date", self._said(day, month, year)), 0.3)

    def _is_short_date(self, line: Tokens, place: int, after: int, parts: list[str], sign: str) -> bool:
        """True for a day and month that context or a zero tells from a fraction."""
        signs = 0
        while signs < 2 and line.has(place - 1 - signs, ".,"):
            signs += 1
        before = line[place - 1 - signs]
        weekday = before.fold in self._days
        hours = line.has(after, ("h", "hs", "horas", "ore"))
        if (hours or self._cued(line, after, "partitive")) and not weekday:
            return False
        zero = parts[1][0] == "0" and len(parts[1]) == 2
        spanned = self._joins(line, after, 1) or self._joins(line, place - 1, -1)
        if sign == ".":
            return weekday
        follows = self._cued(line, after, "after_dates") and line[after].gap
        apostrophe = line[place - 1].text in ("'", "’")
        return zero or weekday or follows or spanned or self._cued(line, place - 1 - apostrophe, "date")

    def _joins(self, line: Tokens, place: int, step: int) -> bool:
        """True if a dash or "to" stands at a place, and beyond it another day and month."""
        token = line[place]
        if not (token.fold in DASHES or token.fold == self._locale.to or self._cued(line, place, "between_days")):
            return False
        places = (place + 1, place + 2, place + 3) if step > 0 else (place - 3, place - 2, place - 1)
        day, slash, month = (line[each] for each in places)
        if token.fold == "" or slash.text != "/" or not day.kind == month.kind == "d":
            return False
        return 1 <= int(day.text[:3]) <= 31 and 1 <= int(month.text[:3]) <= 12 and line[places[2] + 1].text != "/"

    def _first_day(self, line: Tokens, place: int) -> tuple[int, int]:
        day = line.number(place, 1, 31, 2)
        if day is None:
            return 0, place
        after = place + 1
        if day == 1 or self._locale.numbers == "pt_BR":
            after += line.has(after, ".", glued=True) and line[after + 1].text == "º"
            after += line.has(after, _FIRST, glued=True)
        return day, after

    def _month_at(self, line: Tokens, place: int) -> tuple[int, int, bool]:
        """Month at a place, the place after it and its full stop, and whether it is short."""
        month = self._months.get(line[place].fold, 0)
        short = line[place].fold not in self._full
        stop = short and line.has(place + 1, ".", glued=True) and not line.last(place + 1)
        return month, place + 1 + stop, short

    def _named(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Day with a month's name. Words and numbers that engines read well stay."""
        day, after = self._first_day(line, place)
        if not day:
            return
        joint = line[after].text if line[after].text in _JOINTS and not line[after].gap else ""
        of = line.has(after, ("de", "di"))
        month, end, short = self._month_at(line, after + (of or bool(joint)))
        token = line[after + (of or bool(joint))]
        if not month or (joint and token.gap) or (not joint and not token.gap):
            if day == 1 and not month:
                return
            if not month:
                return
        start = end + (line.has(end, ("de", "del", "di")) and line[end + 1].kind == "d")
        if joint:
            start = end + line.has(end, joint, glued=True)
        year = line.number(start, 1000, 2999, 4)
        if year is None and joint and len(line[start].text) == 2 and (year := line.number(start, 0, 99, 2)) is not None:
            year += 2000 if year < 70 else 1900
        plain = not short and not joint and not (year and self._locale.years_by_hundreds and year < 2000)
        if plain and day != 1:
            return
        if plain and not short:
            yield Classed(place, after, InWords("Date", self._day(day)), 0.45)
            return
        if year and line.ends(start + 1):
            yield Classed(place, start + 1, InWords("Date", self._said(day, month, year)), 0.25)
        yield Classed(place, end, InWords("Date", self._said(day, month, 0)), 0.3)

    def _month(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Short month before a year or after a preposition, and spans of months."""
        month, after, short = self._month_at(line, place)
        name = self._locale.months[month - 1]
        dash = line[after]
        if dash.fold in DASHES and dash.fold and dash.gap == line[after + 1].gap and line[after + 1].kind == "w":
            other, end, also_short = self._month_at(line, after + 1)
            if other and (not also_short or short):
                said = f"{name} {self._locale.to} {self._locale.months[other - 1]}"
                yield Classed(place, end, InWords("MonthSpan", said), 0.3)
        if not short:
            return
        stopped = line.has(place + 1, ".", glued=True)
        sign = line[after].text in ("/", "-") and bool(line[after].text)
        numeric = line[after + sign]
        year = line.number(after + sign, 1900, 2099, 4)
        if year and numeric.gap != sign:
            yield Classed(place, after, InWords("Month", name), 0.4)
        if self._cued(line, place - 1, "month") and (stopped or line[place].fold not in self._days):
            yield Classed(place, after, InWords("Month", name), 0.4)
        elif stopped and not line.last(place + 1) and line[place].fold not in self._days and len(line[place].text) > 2:
            yield Classed(place, after, InWords("Month", name), 0.5)

    def _day_at(self, line: Tokens, place: int) -> tuple[int | None, int, bool]:
        day = self._days.get(line[place].fold)
        stop = line.has(place + 1, ".", glued=True) and not line.last(place + 1)
        short = line[place].fold not in self._full
        return day, place + 1 + (short and stop), short

    def _weekday(self, line: Tokens, place: int) -> Iterator[Classed]:
        day, after, short = self._day_at(line, place)
        assert day is not None
        names = self._locale.weekdays
        if line[after].text in DASHES and line[after].text:
            last, end, _ = self._day_at(line, after + 1)
            if last is not None and line[after].gap == line[after + 1].gap:
                said = f"{names[day]} {self._locale.to} {names[last]}"
                yield Classed(place, end, InWords("Weekdays", said), 0.3)
        if not short or self._cued(line, place - 1, "after_numbers_only"):
            return
        stopped = after > place + 1
        follows = line[after + (line[after].text in (",", ":") and bool(line[after].text))]
        joint = self._cued(line, after, "between_days") and line[after + 1].fold in self._days
        before = self._cued(line, place - 1, "between_days") and (
            line[place - 2].fold in self._days or (line[place - 2].text == "." and line[place - 3].fold in self._days)
        )
        comma = line[after].text in ("/", ",") and line[after + 1].fold in self._days
        if line[place - 1].kind == "d" and not before:
            return
        if follows.kind == "d" or joint or before or comma or (stopped and line[place].text.islower()):
            yield Classed(place, after, InWords("Weekday", names[day]), 0.4)

    def years(self, line: Tokens, place: int) -> Iterator[Classed]:
        """'68, 80s, and years that a language says by hundreds."""
        locale = self._locale
        token = line[place]
        if token.text in ("'", "’", "‘") and token.gap and glued(line, place + 1) and len(line[place + 1].text) == 2:
            yield Classed(place, place + 2, InWords("Year", locale.cardinal(int(line[place + 1].text))), 0.4)
        if token.kind != "d":
            return
        tail = place + 1 + line.has(place + 1, ("'", "’"), glued=True)
        if len(token.text) in (2, 4) and token.text[-1] == "0" and line.has(tail, ("s",), glued=True):
            yield Classed(place, tail + 1, InWords("Decade", locale.year(int(token.text))), 0.4)
        if not locale.years_by_hundreds or len(token.text) != 4:
            return
        first = int(token.text)
        dash = line[place + 1].fold in DASHES and line[place + 1].fold and line[place + 1].gap == line[place + 2].gap
        last = line.number(place + 2, 1100, 2099, 4) if dash else None
        if last and first < last:
            said = f"{locale.year(first)} {locale.to} {locale.year(last)}"
            yield Classed(place, place + 3, InWords("Years", said), 0.3)
        if 1100 <= first < 2000 and line[place + 1].fold not in locale.cue.get("counted", ()):
            yield Classed(place, place + 1, InWords("Year", locale.year(first)), 0.6)

    def _clock(self, line: Tokens, place: int) -> _Clock | None:
        hours = line.number(place, 0, 24, 2)
        if hours is None:
            return None
        after, minutes, seconds, colon, named = place + 1, 0, 0, False, False
        sign = line[after]
        if sign.fold in ("h", "hs", "hrs", "hr") and sign.kind == "w":
            if sign.gap and not (line[after + 1].kind == "d" and len(line[after + 1].text) == 2):
                named = True
            colon, named, after = True, True, after + 1
            found = line.number(after, 0, 59, 2) if len(line[after].text) == 2 and line[after].gap == sign.gap else None
            if found is not None:
                minutes, after = found, after + 1
                after += line.has(after, ("min", "m", "mn"), glued=True)
        elif sign.text in (":", ".") and not sign.gap and glued(line, after + 1) and len(line[after + 1].text) == 2:
            found = line.number(after + 1, 0, 59, 2)
            if found is None:
                return None
            minutes, colon, after = found, sign.text == ":", after + 2
            if colon and line.has(after, ":", glued=True) and (more := line.number(after + 1, 0, 59, 2)) is not None:
                seconds, after = more, after + 2
            elif line.has(after, ".:", glued=True) and glued(line, after + 1):
                return None
            if line.has(after, ("h", "hs", "hrs", "hr", "uhr")):
                named, after = True, after + 1
                after += line.has(after, ".", glued=True) and not line.last(after)
        half = ""
        if self._locale.parts_of_day and 0 < hours <= 12:
            half, after = _half(line, after)
        if self._locale.years_by_hundreds and line.has(after, ("बजे",)):
            named, after = True, after + 1
        return _Clock(hours, minutes, seconds, after, colon, half, named)

    def _say(self, clock: _Clock, last: bool = True) -> str:
        locale = self._locale
        hour = locale.hour[clock.hours not in (0, 1)]
        noun = "" if locale.numbers == "it" and clock.hours != 1 else "hora" if locale.numbers != "it" else "ora"
        hours = locale.counted(locale.cardinal(clock.hours), "heure" if locale.numbers == "fr" else noun)
        hours = "una" if hours == "un'" and not clock.named else hours
        form = locale.clock[clock.minutes > 0]
        said = form.format(h=hours, hour=hour, m=locale.cardinal(clock.minutes))
        if not last and not clock.minutes and not locale.numbers:
            said = hours
        if clock.named and not clock.minutes and locale.numbers in ("es", "it") and not clock.half:
            said = joined(locale.counted(hours, locale.hour[0]) if clock.hours == 1 else hours, hour)
        if clock.seconds:
            said += f", {locale.cardinal(clock.seconds)}"
        return f"{said} {self._part_of_day(clock)}" if clock.half else said

    def _part_of_day(self, clock: _Clock) -> str:
        morning, noon, afternoon, night = self._locale.parts_of_day
        if clock.half == "a":
            return night if clock.hours == 12 else morning
        if clock.hours == 12:
            return noon
        return night if clock.hours >= 8 else afternoon

    def times(self, line: Tokens, place: int) -> Iterator[Classed]:
        clock = self._clock(line, place)
        if clock is None:
            return
        before = line[place - 1]
        dotted = self._cued(line, place - 1, "dotted_times") and not clock.colon and line[place + 1].text == "."
        is_time = clock.colon or clock.half or dotted
        dash = line[clock.after]
        if dash.fold in DASHES and dash.fold and dash.gap == line[clock.after + 1].gap:
            last = self._clock(line, clock.after + 1)
            pointed = False
            if last and line[place + 1].text == "." and self._locale.decimal == "," and last.hours > clock.hours:
                pointed = line[clock.after + 2].text == "." or not line.has(last.after, ("%", "€"))
            timed = last and (is_time or last.colon or last.half or pointed) and (clock.colon or last.named or pointed)
            if last and timed and (not last.named or clock.colon or last.minutes or last.half):
                said = f"{self._say(clock, False)} {self._locale.to} {self._say(last)}"
                yield Classed(place, last.after, InWords("TimeSpan", said), 0.3)
        if not is_time:
            return
        said = self._say(clock)
        exact = self._locale.cue.get("exact", frozenset())
        if exact and before.fold in exact and clock.colon and not (clock.minutes or clock.named or clock.half):
            said += " en punto"
        if clock.half and not line[clock.after].text and line[clock.after - 1].text == ".":
            said += "."
        if clock.named and not clock.minutes and not line[place + 1].gap and line.has(place + 1, ("h",)):
            yield Classed(place, clock.after, InWords("Time", said), 0.39)
        else:
            yield Classed(place, clock.after, InWords("Time", said), 0.4)

    def durations(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Hours, minutes and seconds, each with its unit: 2h 15min, 45'30\"."""
        locale, parts, after, size = self._locale, [], place, -1
        while True:
            token, unit = line[after], line[after + 1]
            found = _SIZES.get(unit.fold) if unit.kind == "w" or unit.text in "'\"′″" else None
            if token.kind != "d" or len(token.text) > 3 or found is None or found <= size or not unit.text:
                break
            size = found
            forms = locale.all_units[(("h",), ("min",), ("s",))[size]]
            number = Written(str(int(token.text)), "", 0)
            form = forms[plural(locale, number)]
            parts.append(joined(spoken(locale, number, form), form))
            after += 2
            after += line.has(after, ".", glued=True) and not line.last(after)
        if len(parts) > 1 and (line[place + 1].kind == "w" or size == 2):
            if locale.numbers == "fr" and size == 1:
                parts[-1] = parts[-1].rpartition(" ")[0]
            joint = {"es": " y ", "it": " e ", "pt_BR": " e "}.get(locale.numbers, " ")
            yield Classed(place, after, InWords("Duration", joint.join(parts)), 0.25)


_SIZES = {"h": 0, "hs": 0, "hrs": 0, "ore": 0, "min": 1, "mins": 1, "mn": 1, "m": 1, "'": 1, "′": 1} | {
    "s": 2,
    "seg": 2,
    "sec": 2,
    '"': 2,
    "″": 2,
    "घंटे": 0,
    "घंटा": 0,
    "मिनट": 1,
    "सेकंड": 2,
}


def _half(line: Tokens, place: int) -> tuple[str, int]:
    token = line[place]
    if token.fold in ("am", "pm"):
        return token.fold[0], place + 1
    if token.fold in ("a", "p") and line.has(place + 1, ".", glued=True) and line.has(place + 2, ("m",)):
        return token.fold, place + 3 + line.has(place + 3, ".", glued=True)
    return "", place
