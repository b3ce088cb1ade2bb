"""Parsers of dates, months, weekdays and years."""

from __future__ import annotations

from collections.abc import Iterator

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.western.numbers import glued
from text.normalization.western.words import Locale

_JOINTS = frozenset("/.-–")
_FIRST = frozenset(("º", "°", "er", "o", "ro"))


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

    def dates(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
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

    def years(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
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
