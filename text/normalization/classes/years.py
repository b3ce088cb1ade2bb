"""Parser of years and decades: in 1998, '68, the 1980s, 1914–18, FY25, Q3'25."""

from __future__ import annotations

from collections.abc import Iterator

from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.dates import Calendar
from text.normalization.classes.fields import Decades, Year
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.5
_ERAS = frozenset(("ad", "bc", "bce", "ce"))
_APOSTROPHES = frozenset("'’‘")
BEFORE_YEARS = _APOSTROPHES | {"fy", "q", "h"}


class Years:
    def __init__(self, calendar: Calendar) -> None:
        self._months, self._cues = calendar.months, calendar.cues
        self._plain, self._hundreds = calendar.plain, calendar.hundreds
        self.parser = Parser(BEFORE_YEARS, self.parse)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.text in _APOSTROPHES:
            yield from self._apostrophe(line, place)
        elif token.kind == "w":
            yield from self._fiscal(line, place)
        elif self._plain:
            yield from self._decades(line, place, place)
            yield from self._old(line, place)
        else:
            yield from self._years(line, place)

    def _old(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Years before 2000 in a language that says them by hundreds; spans with a slash."""
        first = line.number(place, 1100, 2099, 4)
        if first and line[place + 1].text == "/" and (following := self._last(line, place + 1, first)):
            yield Classed(place, place + 3, Year(first, following), 0.2)
        if not self._hundreds or first is None:
            return
        last = line.number(place + 2, 1100, 2099, 4) if line.dash(place + 1) else None
        if last and first < last:
            yield Classed(place, place + 3, Year(first, last), 0.3)
        if first < 2000 and line[place + 1].fold not in self._cues["counted"]:
            yield Classed(place, place + 1, Year(first), 0.6)

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
        if last := self._last(line, after, year):
            yield Classed(place, after + 2, Year(year, last), 0.2 if line[after].text == "/" else 0.4)
        cue = before.fold
        if before.text == "." and not before.gap:
            cued = line.has(place - 2, self._cues["year_stops"])
        elif before.kind == "d" and not before.gap and line.has(place - 2, ("q", "h")):
            cued = not line[place - 1].gap
            cue = "q1"
        else:
            cued = cue in self._cues["year"] or cue in self._months or (before.text == "-" and not line[place].gap)
        bracketed = line.has(place - 1, "([") and line.has(after, ")],;", glued=True)
        if (cued and not self._counts(line, after, cue)) or before.text == "©" or bracketed:
            yield Classed(place, after, Year(year), _COST)

    def _last(self, line: Tokens, after: int, year: int) -> int:
        """The last year of a span, 1914-18 or 2024/25; 0 if there is none."""
        end = line[after + 1].text
        if line[after + 1].kind != "d" or line.has(after + 2, (*DASHES, "/"), glued=True):
            return 0
        last = int(end) if len(end) in (2, 4) else 0
        if line.has(after, "/", glued=True) and not line[after + 1].gap:
            following = str(year + 1)
            return (last or (year > 99) * (year + 1)) if end in (following, following[-2:]) else 0
        spaced_hyphen = line[after].text == "-" and len(end) == 2 and last <= 12 and year > 99
        rises = year < last <= 2099 if len(end) == 4 else last > year % 100 and not spaced_hyphen
        return last if line.dash(after) and rises else 0

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
        if line[place].fold != "fy":
            apart = place + 2 + line.has(place + 2, "-", glued=True)
            if not token.gap and line.number(place + 1, 1, 4, 1) and line.has(apart, _APOSTROPHES, glued=True):
                before = line[place].text.upper() + token.text
                for found in self._apostrophe(line, apart):
                    if isinstance(found.fields, Year):
                        yield found._replace(first=place, fields=found.fields._replace(before=before))
        elif token.kind == "d" and len(token.text) in (2, 4):
            year = int(token.text)
            yield Classed(place, place + 2, Year(year, before="fiscal year"), _COST)
            if last := self._last(line, place + 2, year):
                yield Classed(place, place + 4, Year(year, last, "fiscal years"), 0.2)

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
        reach = 1 + line.has(place - 1, DASHES)
        sure = first >= 100 or marked or self._plain or line.cued(number, self._cues["decade"], reach)
        if first < 0 or not sure:
            return
        joint, start = line[after].fold, after + 1
        start += line.has(start, _APOSTROPHES) and not line[start + 1].gap
        last, end = at(start)
        if last >= 0 and (line.dash(after) or joint in ("to", "and", "or")):
            spoken = line[after].text if joint in ("to", "and", "or") else "to"
            yield Classed(place, end, Decades(first, last, spoken), 0.3)
        yield Classed(place, after, Decades(first), 0.3)

    def _apostrophe(self, line: Tokens, place: int) -> Iterator[Classed]:
        if line[place + 1].kind != "d" or line[place + 1].gap or len(line[place + 1].text) != 2:
            return
        if line.has(place + 2, ("s", *_APOSTROPHES), glued=True):
            yield from self._decades(line, place, place + 1)
        if not line.has(place + 2, ("'", "’", '"'), glued=True):
            yield Classed(place, place + 2, Year(int(line[place + 1].text)), _COST)
