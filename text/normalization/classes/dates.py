"""Parser of dates, years and decades: any order, separator and case of a language's months and weekdays."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed
from text.normalization.classes.fields import Clock, Date, DateSpan, Decades, MonthSpan, Weekday, Year
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.5
_ORDER = {"st", "nd", "rd", "th"}
_JOINTS = frozenset("-/.")
_RULER = frozenset((4, 8, 16, 32))
_ERAS = frozenset(("ad", "bc", "bce", "ce"))
_AFTER_STOP = frozenset(",;:)")
_APOSTROPHES = frozenset("'’‘")
BEFORE_YEARS = _APOSTROPHES | {"fy"}


class Dates:
    """Parser for one language's tables (`calendar.toml`)."""

    def __init__(self, calendar: Mapping[str, object], names: Mapping[str, str], days: Mapping[str, str]) -> None:
        months, weekdays, cues = (list(calendar["months"]), list(calendar["days"]), dict(calendar["cues"]))  # type: ignore[call-overload]
        self._months = {name.casefold(): months.index(full) + 1 for name, full in names.items()}
        self._full = frozenset(name.casefold() for name in months)
        self._days = {name.casefold(): weekdays.index(full) for name, full in days.items()}
        self._long_days = {name.casefold(): number for number, name in enumerate(weekdays)}
        self._cues = {name: word_list(listed) for name, listed in cues.items()}

    @property
    def words(self) -> frozenset[str]:
        return frozenset((*self._days, *self._long_days, *self._months, "the"))

    def dates(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Parser of dates and days, and of two dates with a dash between them."""
        for found in self._single(line, place, british):
            yield found
            if isinstance(found.fields, Date) and found.fields.day and line.dash(found.last):
                for last in self._single(line, found.last + 1, british):
                    if isinstance(last.fields, Date) and last.fields.day:
                        yield Classed(place, last.last, DateSpan(found.fields, last.fields), _COST - 0.1)

    def _single(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.kind == "d":
            yield from self._numeric(line, place, british)
            yield from self._day_first(line, place, place)
        elif token.kind == "w":
            if token.fold == "the" and line[place + 1].kind == "d":
                yield from self._day_first(line, place, place + 1)
            elif token.fold in self._months:
                yield from self._month_first(line, place)
            if token.fold in self._days or token.fold in self._long_days:
                yield from self._weekday(line, place)

    def years(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Parser of years and decades."""
        token = line[place]
        if token.kind == "d":
            yield from self._years(line, place)
        elif token.fold == "fy":
            yield from self._fiscal(line, place)
        elif token.text in _APOSTROPHES and not line[place + 1].gap:
            yield from self._apostrophe(line, place)

    def _month(self, line: Tokens, place: int) -> tuple[int, int]:
        """Month that begins at a place and the place after it and its full stop; (0, place) if there is none."""
        month = self._months.get(line[place].fold, 0)
        if not month:
            return 0, place
        after = place + 1
        short = line[place].fold not in self._full
        if short and line.has(after, ".", glued=True) and not line.last(after):
            after += 1
        return month, after

    def _doubtful(self, line: Tokens, place: int) -> bool:
        """True for a word that is only seldom a month in its case: "may" and "MAY" in a line of capitals."""
        token = line[place]
        return token.fold in self._cues["words"] and (
            token.text.islower() or (token.text.isupper() and line[place - 1].text.isupper())
        )

    def _nth(self, line: Tokens, place: int) -> tuple[int, int]:
        """Day of a month with its ending, and the place after it; (0, place) if there is none."""
        day = line.number(place, 1, 31, 2)
        if day is None:
            return 0, place
        return day, place + (2 if line.has(place + 1, _ORDER, glued=True) else 1)

    def _to_nth(self, line: Tokens, place: int) -> tuple[int, int]:
        if line.dash(place) and not (line[place].text == "-" and line[place].gap):
            last, after = self._nth(line, place + 1)
            if last:
                return last, after
        return 0, place

    def _year(self, line: Tokens, place: int) -> tuple[int, int]:
        """Year after a date, and the place after it."""
        comma = line.has(place, ",", glued=True)
        year = line.number(place + comma, 1000, 2999, 4)
        if year is None or not line[place + comma].gap or not line.ends(place + comma + 1):
            return 0, place
        after = place + comma + 1
        return (0, place) if line.has(after, DASHES, glued=True) and line[after + 1].kind == "d" else (year, after)

    def _joined_year(self, line: Tokens, place: int, sign: str) -> tuple[int, int]:
        """Year after a separator (-2020, /21)."""
        if not line.has(place, sign) or line[place].gap or line[place + 1].gap:
            return 0, place
        token = line[place + 1]
        if token.kind != "d" or len(token.text) not in (2, 4):
            return 0, place
        return _full_year(token.text), place + 2

    def _month_first(self, line: Tokens, place: int) -> Iterator[Classed]:
        month, after = self._month(line, place)
        doubtful = self._doubtful(line, place)
        sign = line[after].text
        if sign in _JOINTS and not line[after].gap and not line[after + 1].gap:
            day, end = self._nth(line, after + 1)
            year, with_year = self._joined_year(line, end, sign) if day else (0, after)
            if year:
                yield Classed(place, with_year, Date(year, month, day), _COST)
            elif day and sign == "-" and line[place].text.istitle() and line[end].gap and not doubtful:
                yield Classed(place, end, Date(0, month, day), _COST)  # Jan-15
        day, end = self._nth(line, after)
        cued = not doubtful or line.cued(place, self._cues["month"] | self._cues["padded_date"], 1)
        if day and not line.has(end, "%°", glued=True):
            last, end = self._to_nth(line, end)
            year, with_year = self._year(line, end)
            certain = (
                cued or year or line[end - 1].fold in _ORDER or (line[end].kind == "s" and line[end].text in ",.;)")
            )
            if certain:
                if year:
                    yield Classed(place, with_year, Date(year, month, day, last), _COST)
                yield Classed(place, end, Date(0, month, day, last), _COST)
        if line.dash(after):
            last_month, end = self._month(line, after + 1)
            if last_month:
                year, with_year = self._year(line, end)
                yield Classed(place, with_year if year else end, MonthSpan(month, last_month, year), _COST)
        comma = line.has(after, ",", glued=True)
        year = line.number(after + comma, 1100, 2099, 4) or 0
        if year and line[after + comma].gap and line.ends(after + comma + 1) and cued | comma | (year > 1900):
            yield Classed(place, after + comma + 1, Date(year, month), _COST)
        short = line[place].fold not in self._full and (after > place + 1 or line.last(place + 1))
        if short and line.has(place + 1, ".", glued=True) and line.cued(place, self._cues["month"], 1) and cued:
            yield Classed(place, after, Date(0, month), _COST)

    def _day_first(self, line: Tokens, place: int, number: int) -> Iterator[Classed]:
        day, after = self._nth(line, number)
        if not day:
            return
        article = line[place].text if number > place else ""
        last, after = self._to_nth(line, after)
        sign = line[after].text
        if sign in _JOINTS and sign and not line[after].gap and not line[after + 1].gap:
            month, end = self._month(line, after + 1)
            year, end = self._joined_year(line, end, sign) if month else (0, after)
            if year:
                yield from self._with_time(line, place, end, Date(year, month, day, last, True, article))
            return
        of = line.has(after, ("of",))
        month, end = self._month(line, after + of)
        if not month:
            return
        year, with_year = self._year(line, end)
        nth = line[after - 1].fold in _ORDER
        if self._doubtful(line, after + of) and not (year or of or nth or article):
            return
        if end > after + of + 1 and not (
            year or line.has(end, ",") or line[end].text[:1].islower() or line[end].kind == "d"
        ):
            end -= 1
        yield Classed(place, with_year if year else end, Date(year, month, day, last, True, article), _COST)

    def _numeric(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first, sign = line[place].text, line[place + 1].text
        if sign not in _JOINTS or not sign or line[place + 1].gap or line[place + 2].gap or len(first) not in (1, 2, 4):
            return
        second = line[place + 2].text
        if line[place + 2].kind != "d" or len(second) > 2:
            if (
                len(second) == 4
                and sign == "/"
                and len(first) < 3
                and 1 <= int(first) <= 12
                and second[:2] in ("19", "20")
            ):
                yield Classed(place, place + 3, Date(int(second), int(first)), _COST)
            return
        joined = line[place + 3].text == sign and not line[place + 3].gap and not line[place + 4].gap
        third = line[place + 4].text if joined and line[place + 4].kind == "d" else ""
        if len(first) == 4:
            whole = sign != "." or len(third) == 2
            if (
                whole
                and len(third) in (1, 2)
                and (date := _valid(int(first), int(second), int(third)))
                and len(second) == 2
            ):
                yield from self._with_time(line, place, place + 5, replace(date, day_first=british))
            return
        if third:
            if line.has(place + 5, ("/", "-"), glued=True) and not line[place + 6].gap:
                return
            short_cued = line.cued(place, self._cues["date" if sign == "." else "padded_date"])
            if len(third) == 4 or (len(third) == 2 and (sign == "/" or short_cued)):
                year = _full_year(third)
                one, two = int(first), int(second)
                day_first = british or sign == "."
                date = _ordered(year, one, two, day_first) or _ordered(year, one, two, not day_first)
                if date:
                    yield Classed(place, place + 5, replace(date, day_first=british), _COST)
        elif not joined and sign == "/":
            one, two = int(first), int(second)
            alone = (
                line.last(place + 2) and all(token.kind == "s" for token in line.tokens[: min(place, 3)]) and place < 4
            )
            padded = len(first) == len(second) == 2
            cues = self._cues["padded_date" if padded else "date"]
            cued = line.cued(place, cues, 2 if line.has(place - 1, (",", ".", ":")) else 1)
            cued = cued or (line.cued(place, self._long_days, 2) and line.cued(place, self._cues["date"]))
            zero = padded and "0" in (first[0], second[0])
            date = _ordered(2000, one, two, british)
            cued = cued or (line.has(place - 1, ("of",)) and line.has(place - 2, self._cues["of_date"]))
            before = place - 1 - line.has(place - 1, (".", ","))
            cued = cued or line[before - line.has(before, (".",))].fold in self._days
            cued = cued or not line.folds.isdisjoint(self._cues["date_lines"])
            spanned = line.dash(place + 3) and line.has(place + 5, "/", glued=True)
            spanned = spanned or (line.dash(place - 1) and line[place - 3].text == "/" and line[place - 5].kind != "d")
            no_part = one >= two > 0 or (gcd(one, two) > 1 and two not in _RULER)
            the = line.has(place - 1, ("the", "our", "your")) and no_part and line[place + 3].kind == "w"
            spanned = spanned or (the and line[place + 3].gap and not line.has(place + 3, ("of", "time", "beat")))
            named = place > 1 and line[place - 1].text.istitle() and two <= 12 and not (cued or the)
            likely = spanned or (one > 1 and (two in (7, 9, 11) or (two > 12 and two not in (16, 32, 64, 100))))
            if date and not named and (zero or (padded and alone) or cued or likely):
                yield Classed(place, place + 3, replace(date, year=0, day_first=british), _COST - 0.1 * cued)

    def _with_time(self, line: Tokens, place: int, after: int, date: Date) -> Iterator[Classed]:
        yield Classed(place, after, date, _COST)
        start = after + line.has(after, ("t", ":"), glued=True)
        hours, minutes = line.number(start, 0, 23, 2), line.number(start + 2, 0, 59, 2)
        if hours is None or minutes is None or not line.has(start + 1, ":", glued=True):
            return
        end = start + 3
        if line.has(end, ":", glued=True) and line[end + 1].kind == "d":
            end += 2
            if line.has(end, (".", ","), glued=True) and line[end + 1].kind == "d" and not line[end + 1].gap:
                end += 2
        utc = line.has(end, ("z",), glued=True)
        if not utc and line.has(end, ("+", "-")) and line.has(end + 1, ("00", "0000"), glued=True):
            utc, end = True, end + (3 if line.has(end + 2, ":", glued=True) else 1)
        yield Classed(place, end + utc, replace(date, time=Clock(hours, minutes), utc=utc), _COST)

    def _weekday(self, line: Tokens, place: int) -> Iterator[Classed]:
        known = self._days | self._long_days
        day, short = known[line[place].fold], line[place].fold in self._days
        stop = place + 1 + (short and line.has(place + 1, ".", glued=True) and not line.last(place + 1))
        if line.dash(stop) or line.has(stop, ("to", "thru", "through")):
            last = known.get(line[stop + 1].fold)
            if last is not None:
                end = stop + 2
                end += line.has(end, ".", glued=True) and line[end + 1].text in _AFTER_STOP
                yield Classed(place, end, Weekday(day, last), _COST)
        if not short or (
            line[place].fold in ("mon", "sat", "sun", "wed")
            and not line[place].text.istitle()
            and not (stop > place + 1 or line[stop + 1].text == "/" or line[stop].fold in self._months)
        ):
            return
        titled = line[place].text.istitle()
        near = line.has(stop, self._cues["after_day"]) and (
            line[place].fold not in ("sat", "sun", "mon", "wed")
            or line[stop].fold in self._cues["parts_of_day"]
            or (titled and stop > place + 1)
        )
        alone = line[stop].kind != "w" and line.ends(stop)
        stopped = titled and place > 0 and stop > place + 1
        near = near or stopped or (titled and line.last(place) and line[place - 1].text.isupper())
        near = near or (titled and alone and line.has(place - 1, self._cues["before_day"]))
        if line[place].fold in self._cues["sure_days"] or near:
            yield Classed(place, stop, Weekday(day), _COST)
            return
        following = stop + (line.has(stop, ",", glued=True) or 0)
        following += line.has(following, ("the",))
        token = line[following]
        if (token.gap and token.kind in ("d", "m")) or token.fold in self._months:
            yield Classed(place, stop, Weekday(day), _COST)

    def _years(self, line: Tokens, place: int) -> Iterator[Classed]:
        written, before = line[place].text, line[place - 1]
        after = place + 1
        year = int(written) if 3 <= len(written) <= 4 else 0
        if line.has(after, ("s",), glued=year < 1000 or year % 10 > 0) or (
            line.has(after, _APOSTROPHES, glued=True) and line.has(after + 1, ("s",), glued=True)
        ):
            yield from self._decades(line, place, place)
        if line.has(after, _ERAS) and line[after].text.isupper() and year:
            yield Classed(place, after, Year(year), _COST)
        short = len(written) == 2 and written[0] == "0" and before.fold in self._cues["short_year"]
        if short and (line[after].gap or line.last(place)) and line[after].fold not in self._cues["counted"]:
            yield Classed(place, after, Year(int(written)), _COST)
        if not 1000 <= year <= 2099:
            return
        if line.dash(after) and line[after + 1].kind == "d" and not line.has(after + 2, DASHES, glued=True):
            end = line[after + 1].text
            last = int(end) if len(end) in (2, 4) else 0
            spaced_hyphen = line[after].text == "-" and len(end) == 2 and last <= 12
            if (len(end) == 4 and year < last <= 2099) or (len(end) == 2 and last > year % 100 and not spaced_hyphen):
                yield Classed(place, after + 2, Year(year, last), 0.4)
        cue = before.fold
        if before.text == "." and not before.gap:
            cued = line.has(place - 2, self._cues["year_stops"])
        elif before.kind == "d" and not before.gap and line.has(place - 2, ("q", "h")):
            cued = not line[place - 1].gap
            cue = "q1"
        else:
            cued = cue in self._cues["year"] or cue in self._months or (before.text == "-" and not line[place].gap)
        if (
            (cued and not self._counts(line, after, cue))
            or before.text == "©"
            or (before.text in "([" and before.text and line.has(after, (")", "]", ",", ";"), glued=True))
        ):
            yield Classed(place, after, Year(year), _COST)

    def _counts(self, line: Tokens, after: int, cue: str) -> bool:
        """True if what follows four digits is a noun in the plural."""
        token = line[after]
        if not token.gap or token.kind != "w" or cue in ("q1", "fy"):
            return False
        if token.fold in self._cues["counted"]:
            return True
        plural = 4 <= len(token.fold) <= 21 and token.fold[-1] == "s" and token.fold not in self._cues["not_counted"]
        return plural and not token.text.istitle()

    def _fiscal(self, line: Tokens, place: int) -> Iterator[Classed]:
        token = line[place + 1]
        if token.kind == "d" and len(token.text) in (2, 4):
            yield Classed(place, place + 2, Year(int(token.text), before="fiscal year"), _COST)

    def _decades(self, line: Tokens, place: int, number: int) -> Iterator[Classed]:
        def at(start: int) -> tuple[int, int]:
            text = line[start].text
            end = start + 1 + line.has(start + 1, _APOSTROPHES, glued=True)
            ok = line[start].kind == "d" and line.has(end, ("s",), glued=len(text) < 4) and text[-1] == "0"
            return (
                (int(text), end + 1)
                if ok and (len(text) == 2 or (len(text) == 4 and "11" <= text[:2] <= "20"))
                else (-1, start)
            )

        first, after = at(number)
        marked = number > place
        if first < 0 or (
            first < 100 and not marked and not line.cued(number, self._cues["decade"], 1 + line.has(place - 1, DASHES))
        ):
            return
        joint, start = line[after].fold, after + 1
        start += line.has(start, _APOSTROPHES) and not line[start + 1].gap
        last, end = at(start)
        if last >= 0 and (line.dash(after) or joint in ("to", "and", "or")):
            spoken = line[after].text if joint in ("to", "and", "or") else "to"
            yield Classed(place, end, Decades(first, last, spoken), 0.3)
        yield Classed(place, after, Decades(first), 0.3)

    def _apostrophe(self, line: Tokens, place: int) -> Iterator[Classed]:
        if line[place + 1].kind != "d" or len(line[place + 1].text) != 2:
            return
        if line.has(place + 2, ("s", *_APOSTROPHES), glued=True):
            yield from self._decades(line, place, place + 1)
        if not line.has(place + 2, ("'", "’", '"'), glued=True):
            yield Classed(place, place + 2, Year(int(line[place + 1].text)), _COST)


def _full_year(written: str) -> int:
    year = int(written)
    return year if len(written) == 4 else year + (2000 if year < 40 else 1900)


def _valid(year: int, month: int, day: int) -> Date | None:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    return Date(year, month, day)


def _ordered(year: int, first: int, second: int, day_first: bool) -> Date | None:
    return _valid(year, second, first) if day_first else _valid(year, first, second)
