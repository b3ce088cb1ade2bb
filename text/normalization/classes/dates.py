"""Parser of dates: any order, separator and case of a language's months and weekdays."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from text.normalization.classes.cover import Classed, InWords, Parser
from text.normalization.classes.fields import Both, Clock, Date, full_year, valid_date
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.classes.weekdays import Calendar, Weekdays

_COST = 0.3
_JOINTS = frozenset("-/.–")
_RULER = frozenset((4, 8, 16, 32))
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


class Dates:
    def __init__(self, calendar: Calendar) -> None:
        self._calendar, self._weekdays = calendar, Weekdays(calendar)
        self._months, self._days, self._full = calendar.months, calendar.days, calendar.full
        self._cues, self._plain, self._hundreds = calendar.cues, calendar.plain, calendar.hundreds
        self._and = frozenset("/") if self._plain else frozenset(("and", "&"))
        self._nths, self._first = self._cues["day_endings"], self._cues["day_endings"] | self._cues["first_endings"]
        names, spans = {*self._days, *self._months}, {"/", *DASHES, *self._cues["between_weekdays"]}
        bare = Parser.of(self.parse, {name: spans if name in self._full else {""} for name in names})
        self.parser = Parser(self._cues["the"] | DASHES | names, self.parse, bare=bare)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        for found in self._single(line, place, british):
            yield found
            if isinstance(found.fields, Date) and found.fields[1] and any(found.fields[:3:2]) and line.dash(found.last):
                for last in self._single(line, found.last + 1, british):
                    if isinstance(last.fields, Date) and last.fields[1] and any(last.fields[:3:2]):
                        yield Classed(place, last.last, Both(found.fields, last.fields), 0.25)

    def _single(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.kind == "d":
            yield from self._numeric(line, place, british)
            yield from self._day_first(line, place, place)
        elif token.kind == "s" and not self._plain:  # Monday 11 – Friday 15 May
            if line.dash(place) and line.has(place + 1, self._days) and line.cued(place - 1, self._days, 4):
                yield Classed(place, place + 1, InWords("Span", "to"), _COST)
        elif token.kind == "w":
            if token.fold in self._cues["the"]:
                if line[place + 1].kind != "d":
                    return
                yield from self._day_first(line, place, place + 1)
                for found in self._numeric(line, place + 1, british):
                    if isinstance(found.fields, Date) and found.fields.day_first and found.fields.day:
                        yield found._replace(first=place, fields=found.fields._replace(article=token.text))
            elif token.fold in self._months:
                yield from self._month_span(line, place)
                yield from self._short_month(line, place) if self._plain else self._month_first(line, place)
            if token.fold in self._days:
                yield from self._weekdays.parse(line, place)

    def _month(self, line: Tokens, place: int) -> tuple[int, int]:
        """Month that begins at a place and the place after it and its full stop; (0, place) if there is none."""
        month, after = self._calendar.named_at(line, place, self._months)
        return max(month, 0), after

    def _month_span(self, line: Tokens, place: int) -> Iterator[Classed]:
        month, after = self._month(line, place)
        last, end = self._month(line, after + 1) if line.dash(after) else (0, after)
        if last:
            year, with_year = self._year(line, end)
            yield Classed(place, with_year if year else end, Both(Date(0, month), Date(year, last)), _COST)
        last, end = self._month(line, after + 1) if line.has(after, "/", glued=True) and not self._plain else (0, after)
        if last and not (line[after + 1].gap or line.has(end, "/", glued=True)):
            yield Classed(place, end, Both(Date(0, month), Date(0, last), "and"), _COST)

    def _short_month(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Short month before a year, after a preposition, or with a full stop."""
        month, after = self._month(line, place)
        if line[place].fold in self._full:
            return
        stopped, weekday = line.has(place + 1, ".", glued=True), line[place].fold in self._days
        dated = line.number(after, 1900, 2099, 4) and line[after].gap
        year, end = self._joined_year(line, after, "/-")
        if year:
            yield Classed(place, end, Date(year, month), 0.35)
        month_only = not weekday or (stopped and line[after].kind != "d")  # not di mar. 18/11
        sure = dated or (month_only and line.has(place - 1, self._cues["month"]))
        if sure or (stopped and not (line.last(place + 1) or weekday) and len(line[place].text) > 2):
            yield Classed(place, after, Date(0, month), 0.4 if sure else 0.5)

    def _doubtful(self, line: Tokens, place: int) -> bool:
        """True for a word that is only seldom a month in its case: "may" and "MAY" in a line of capitals."""
        text, before = line[place].text, line[place - 1].text
        return text.casefold() in self._cues["words"] and (text.islower() or (text.isupper() and before.isupper()))

    def _nth(self, line: Tokens, place: int) -> tuple[int, int]:
        """Day of a month with its ending, and the place after it; (0, place) if there is none."""
        day = line.number(place, 1, 31, 2)
        if day is None:
            return 0, place
        endings, after = self._first if day == 1 else self._nths, place + 1
        stop = "º" in endings and line.has(after, ".", glued=True) and line[after + 1].text == "º"
        return day, after + stop + line.has(after + stop, endings, glued=True)

    def _to_nth(self, line: Tokens, place: int) -> tuple[int, int, str]:
        """Another day after a dash, "and" or a slash (25/26 Dec), the place after it, and the word between them."""
        numbered = line.has(place, "-") and (self._plain or line.has(place - 2, self._cues["numbered"]))
        following = (line.number(place - 1, 1, 31, 2) or 99) + 1 == line.number(place + 1, 1, 31, 2)
        joint = "and" if line.has(place, self._and) or (following and line.has(place, "/", glued=True)) else "to"
        if joint == "and" or (line.dash(place) and not (numbered and line[place].gap)):  # Week 2 - 11 October
            last, after = self._nth(line, place + 1)
            if last and not line.has(after, ":", glued=True):
                return last, after, joint
        return 0, place, joint

    def _year(self, line: Tokens, place: int) -> tuple[int, int]:
        """Year after a date, and the place after it."""
        short = line[place + 1]
        apostrophe = line.has(place, "'’") and line[place].gap and not (short.gap or self._plain)
        if apostrophe and short.kind == "d" and len(short.text) == 2 and line.ends(place + 2):
            return full_year(short.text), place + 2  # '24
        start = place + (line.has(place, ",", glued=True) or line.has(place, self._cues["of_year"]))
        year = line.number(start, 1000, 2999, 4)
        if year is None or not line[start].gap or not line.ends(start + 1):
            return 0, place
        spanned = line.has(start + 1, DASHES, glued=True) and line[start + 2].kind == "d"
        return (0, place) if spanned else (year, start + 1)

    def _joined_year(self, line: Tokens, place: int, sign: str) -> tuple[int, int]:
        """Year after a separator (-2020, /21)."""
        token = line[place + 1]
        joined = line.has(place, sign, glued=True) and token.kind == "d" and not token.gap
        return (full_year(token.text), place + 2) if joined and len(token.text) in (2, 4) else (0, place)

    def _month_first(self, line: Tokens, place: int) -> Iterator[Classed]:
        month, after = self._month(line, place)
        doubtful, sign = self._doubtful(line, place), line[after].text
        if sign in _JOINTS and not line[after].gap and not line[after + 1].gap:
            day, end = self._nth(line, after + 1)
            year, with_year = self._joined_year(line, end, sign) if day else (0, after)
            if year:
                yield Classed(place, with_year, Date(year, month, day), _COST)
            elif day and sign in "-/" and line[place].text.istitle() and line[end].gap and not doubtful:
                yield Classed(place, end, Date(0, month, day), _COST)  # Jan-15
        day, end = self._nth(line, after)
        cued = not doubtful or line.cued(place, self._cues["month"] | self._cues["padded_date"], 1)
        several = line[place].fold in self._cues["words"] and line.has(end, self._cues["counted"])  # May 5 times
        if day and not (several or line.has(end, "%°", glued=True)):
            (last, end, joint), only = self._to_nth(line, end), end
            year, with_year = self._year(line, end)
            if joint == "and" and not (year or (line.ends(end) and line[end].kind != "w")):
                last, end = 0, only  # June 3 and 4 people
            if cued or year or line[end - 1].fold in self._nths or (line[end].kind == "s" and line[end].text in ",.;)"):
                if year:
                    yield Classed(place, with_year, Date(year, month, day, last, joint=joint), _COST)
                yield Classed(place, end, Date(0, month, day, last, joint=joint), _COST)
        comma = line.has(after, ",", glued=True)
        year, end = (0, after) if comma else self._year(line, after)
        if year and line.has(after, "'’"):
            yield Classed(place, end, Date(year, month), _COST)
        year = line.number(after + comma, 1100, 2099, 4) or 0
        if year and line[after + comma].gap and line.ends(after + comma + 1) and cued | comma | (year > 1900):
            yield Classed(place, after + comma + 1, Date(year, month), _COST)
        stopped = after > place + 1 or (line.last(place + 1) and line.has(place + 1, ".", glued=True))
        bare = line[place].text.istitle() or len(line[place].text) > 3  # in Aug, in sept
        bare = bare and not (line.has(after, "'’-/:") or line.has(place - 1, self._and))
        sure = line[place].fold not in self._cues["words"] and (month > 1 or line.has(place - 1, ("in", "since")))
        short = line[place].fold not in self._full and line.cued(place, self._cues["month"], 1) and cued
        titled = {token.fold for token in line.tokens if token.text.istitle()} - self._full
        listed = line[place].fold in titled and len(self._months.keys() & titled) > 1  # Jan., Apr. & Jul.
        listed &= stopped or not line[after].gap or not line[after].text.istitle()
        if listed or (short and (stopped or (bare and sure))):
            yield Classed(place, after, Date(0, month), _COST)

    def _day_first(self, line: Tokens, place: int, number: int) -> Iterator[Classed]:
        day, first_end = self._nth(line, number)
        if not day:
            return
        article = line[place].text if number > place else ""
        last, after, joint = self._to_nth(line, first_end)
        sign = line[after].text
        if sign in _JOINTS and not line[after].gap and not line[after + 1].gap:
            month, end = self._month(line, after + 1)
            if roman := not month and line[after + 1].fold in _ROMANS:  # 12.xi.1938
                month, end = _ROMANS.index(line[after + 1].fold) + 1, after + 2
            year, with_year = self._joined_year(line, end, sign) if month else (0, 0)
            month *= not (roman and not year)
            if year or (month and (self._plain or (sign in "-/" and line[after + 1].text.istitle()))):
                yield from self._with_time(line, place, with_year, Date(year, month, day, last, True, article))
            return
        of = line.has(after, self._cues["of_month"])
        month, end = self._month(line, after + of)
        if not month or (self._plain and not line[after + of].gap):
            return
        year, with_year = self._year(line, end)
        hundreds = self._hundreds and 0 < year < 2000
        if self._plain and joint == "to" and line[after + of].fold in self._full and not hundreds:
            if day == 1 and not last:
                yield Classed(place, first_end, Date(0, 0, 1), 0.34 if line[place + 1].text == "°" else 0.45)
            return
        if self._doubtful(line, after + of) and not (year or of or article or line[after - 1].fold in self._nths):
            return
        dated = self._plain or year or line.has(end, ",") or line[end].text[:1].islower() or line[end].kind == "d"
        end -= end > after + of + 1 and not dated
        if year:
            yield Classed(place, with_year, Date(year, month, day, last, True, article, joint=joint), 0.25)
        yield Classed(place, end, Date(0, month, day, last, True, article, joint=joint), _COST)

    def _numeric(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        parts = [whole := line[place].text]
        stamp = len(whole) == 8 and "19" <= whole < "21"
        if stamp and (date := valid_date(int(whole[:4]), int(whole[4:6]), int(whole[6:]))):
            yield Classed(place, place + 1, date._replace(day_first=british), _COST)
        nth = self._plain and line.has(place + 1, self._first if parts[0] == "1" else self._nths, glued=True)
        sign = line[after := place + 1 + nth].text  # 1º/05/2024
        while sign in _JOINTS and len(parts) < 4 and line.has(after, sign, glued=True):
            if line[after + 1].kind != "d" or line[after + 1].gap:
                break
            parts.append(line[after + 1].text)
            after += 2
        widths = [len(part) for part in parts]
        if len(parts) == 2 and widths[1] == 4 and line.cued(place, self._cues["laws"], 6):
            return
        numbers = [int(part) for part in parts]
        told = (padded := widths == [2, 2]) and line.has(place - 1, self._cues["dated"])  # el 22-11
        dashed = (told or parts[-1][0] == "0" < whole[0]) if self._plain else told and "0" in whole[0] + parts[1][0]
        ahead = british or self._plain or line[place + 1].text != sign or "dd" in line.folds  # (DD/MM/YYYY): 05/11/1984
        if len(parts) == 3 and widths[0] == 4 and max(widths[1:]) < 3 and (sign != "." or widths[2] == 2):
            if date := valid_date(numbers[0], numbers[1], numbers[2]):
                yield from self._with_time(line, place, after, date._replace(day_first=british))
        elif len(parts) == 3 and max(widths[:2]) < 3 and widths[2] in (2, 4):
            cues = self._cues["date"] | (self._cues["padded_date"] if sign == "-" else frozenset())
            chained = line[after].text in ("/", "-") and not (line[after].gap or line[after + 1].gap or self._plain)
            sure = widths[2] == 4 or sign == "/" or (self._plain and sign != ".")
            program = sign == "." and len(before := line[place - 1].fold) > 3 and before not in cues | self._days.keys()
            sure = sure or (line.cued(place, cues) and not program)  # since Linux 2.6.18
            one, two = numbers[1::-1] if ahead or sign == "." else numbers[:2]
            date = valid_date(full_year(parts[2]), one, two) or valid_date(full_year(parts[2]), two, one)
            if date and (sure or line.has(after, self._cues["after_dates"])) and not chained:
                yield Classed(place, after, date._replace(day_first=british), _COST)
        elif len(parts) == 2 and (sign in "/." or dashed) and max(widths) < 3:
            expires = line.has(place - 1 - line.has(place - 1, ".:"), self._cues["expiry"])
            if expires and [*widths, sign] == [2, 2, "/"] and numbers[0] <= 12 < numbers[1]:
                yield Classed(place, after, Date(2000 + numbers[1], numbers[0]), 0.2)  # exp. 04/27
            other = self._joins(line, after, 1) or self._joins(line, place - 1, -1)
            ahead = (ahead or other > 12) and other >= 0  # 21/7-1/9, 11/28–12/2
            date = valid_date(2000, *(numbers[::-1] if ahead else numbers))
            swapped = other or parts[1][0] == "0" or self._announced(line, place, padded)
            if not date and sign != "." and (swapped or (not self._plain and self._is_improper(line, place, *numbers))):
                date = valid_date(2000, *(numbers if ahead else numbers[::-1]))  # ends 31/01
            if date and (cost := _COST if nth else self._short_cost(line, place, parts, sign, other != 0)):
                yield Classed(place, after, date._replace(year=0, day_first=british), cost)
        elif len(parts) == 2 and 0 < numbers[0] < 13 and 1900 <= numbers[1] < 2100 and (whole[0] == "0" or sign == "/"):
            yield Classed(place, after, Date(numbers[1], numbers[0]), _COST)
        elif widths == [4, 2] and sign == "-" and "19" <= whole < "21" and 0 < numbers[1] <= min(12, numbers[0] % 100):
            yield Classed(place, after, Date(numbers[0], numbers[1]), _COST)  # 2003-04 may be two years

    def _short_cost(self, line: Tokens, place: int, parts: list[str], sign: str, spanned: bool) -> float:
        """Cost of a day and month that context or a zero tells from a fraction; 0 for what is no date."""
        before, after, cues = place - 1 - line.has(place - 1, ".,"), place + 3, self._cues
        weekday = line[before - line.has(before, ".,")].fold in self._days
        part = line.has(after, cues["partitive"]) and line[after + 1].kind != "d"  # 3/4 du lait; 6/11 de 18h
        if sign == "." or (part and not weekday and int(parts[0]) < int(parts[1])) or line.has(place - 1, "×÷="):
            dotted = sign == "." and parts[1][0] == "0" < parts[1][1:] and line.has(place - 1, cues["date"])  # au 31.01
            return _COST if (weekday or dotted) and self._plain else 0
        padded = len(parts[0]) == len(parts[1]) == 2
        zero = (len(parts[1]) == 2 and parts[1][0] == "0") or (padded and parts[0][0] == "0")
        if self._plain:
            at = after + line.has(after, ",")
            timed = line[at].kind == "d" and line.has(at + 1, (":", "h"), glued=True)
            follows = line[at].gap and (timed or line.has(after, cues["after_dates"]))
            announced = line.has(place - 1 - line.has(place - 1, "'’:.,("), cues["date"])
            falls = int(parts[0]) > 16 - 4 * padded and parts != ["24", "7"] and line[place - 1].text != "="  # 14/11
            return _COST if zero or weekday or follows or spanned or announced or falls else 0
        other = place - 4 - line.has(place - 2, ",")  # due 9/27, not 10/4
        dated = line.has(place - 1, cues["other_date"]) and line[other + 1].text == "/" and line[other].kind == "d"
        cued = self._announced(line, place, padded) or (dated and line.cued(other, self._cues["date"], 9))
        near = line.has(after, (",", "@", "at")) and line[after + 1].kind == "d" and line.has(after + 2, ":-–")
        halved = line.has(after, ",@") and line.has(after + 2, ("a", "p", "am", "pm"), glued=True)  # 7/16, 6p
        weekday |= halved or (near and not line.folds.isdisjoint(("am", "pm", "m")))  # 11/6, 4–5:30 p.m.
        cued = cued or weekday or not line.folds.isdisjoint(cues["date_lines"])
        if cued or zero:
            return 0.5 - 0.1 * cued
        guessed = self._is_guessed(line, place, int(parts[0]), int(parts[1]), padded, spanned)
        if not guessed and self._is_improper(line, place, int(parts[0]), int(parts[1])):
            return 0.28
        return 0.5 - 0.15 * spanned if guessed else 0

    def _announced(self, line: Tokens, place: int, padded: bool) -> bool:
        cued = line.cued(place, self._cues["padded_date" if padded else "date"], 1 + line.has(place - 1, ".,:"))
        of = line.has(place - 1, ("of", "from")) and line.cued(place - 1, self._cues["of_date"], 2)
        return cued or of or line[place - 1 - line.has(place - 1, ".,")].fold in self._days

    def _is_guessed(self, line: Tokens, place: int, one: int, two: int, padded: bool, spanned: bool) -> bool:
        """True for two numbers without a cue that are more probably a date than a fraction."""
        alone = line.last(place + 2) and all(token.kind == "s" for token in line.tokens[: min(place, 3)]) and place < 4
        no_part = one >= two > 0 or (gcd(one, two) > 1 and two not in _RULER)
        the = line.has(place - 1, ("the", "our", "your")) and no_part and line[place + 3].kind == "w"
        spanned = spanned or (the and line[place + 3].gap and not line.has(place + 3, ("of", "time", "beat")))
        named = place > 1 and line[place - 1].text.istitle() and (two <= 12 or not line[place - 1].gap) and not the
        likely = spanned or (one > 1 and (two in (7, 9, 11) or (two > 12 and two not in (16, 32, 64, 100))))
        return (spanned or not named) and ((padded and alone) or likely)

    def _is_improper(self, line: Tokens, place: int, one: int, two: int) -> bool:
        """True for more than a whole that no sum, rate or bet is about: your 10/2 letter, w/e 18/5."""
        noun, before = line[place + 3], line[place - 1]
        counted = noun.kind == "w" and (noun.fold[-1:] == "s" or noun.fold in self._cues["no_date"] or not noun.gap)
        sums = not line.folds.isdisjoint(self._cues["no_date"]) or before.text.istitle() or noun.text in ("/", "-")
        named = (
            before.kind == "w"
            and before.fold not in ("is", "was", "are")
            and (before.gap or line[place - 2].text == "/")
        )
        return one > two > 0 and named and not (counted or sums or noun.kind == "d")

    def _joins(self, line: Tokens, place: int, step: int) -> int:
        """First number of the day and month beyond a dash or "to", below 0 if it is surely the month; or 0."""
        if not line.has(place, self._cues["between_days"] | DASHES):
            return 0
        places = (place + 1, place + 2, place + 3) if step > 0 else (place - 3, place - 2, place - 1)
        first, last = line.number(places[0], 1, 31, 2), line.number(places[2], 1, 31, 2)
        if not first or not last or line[places[1]].text != "/" or line[places[2] + 1].text == "/":
            return 0
        parts = first < last and last in (2, 3, *_RULER) and not self._plain
        known = min(first, last) <= 12 and not parts and (step > 0 or line[places[0] - 2].kind != "d")
        return (-first if last > 12 else first) * known

    def _with_time(self, line: Tokens, place: int, after: int, date: Date) -> Iterator[Classed]:
        yield Classed(place, after, date, _COST)
        start = after + line.has(after, ("t", ":"), glued=True)
        hours, minutes = line.number(start, 0, 23, 2), line.number(start + 2, 0, 59, 2)
        joined = line.has(start + 1, ":", glued=True) and not (self._plain and start == after)
        if hours is None or minutes is None or not joined:
            return
        end = start + 3
        if line.has(end, ":", glued=True) and line[end + 1].kind == "d":
            end += 2
            if line.has(end, (".", ","), glued=True) and line[end + 1].kind == "d" and not line[end + 1].gap:
                end += 2
        utc = line.has(end, ("z",), glued=True)
        if not utc and line.has(end, ("+", "-")) and line.has(end + 1, ("00", "0000"), glued=True):
            utc, end = True, end + (3 if line.has(end + 2, ":", glued=True) else 1)
        yield Classed(place, end + utc, date._replace(time=Clock(hours, minutes), utc=utc), _COST)
