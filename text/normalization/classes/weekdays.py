"""Parser of weekdays: full and short names, spans and lists of them; the names and cue words of a language's dates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from text.locales.tables import WordLists
from text.normalization.classes.cover import Classed
from text.normalization.classes.fields import Both, Weekday
from text.normalization.classes.tokens import Tokens

_COST = 0.3
_WORDS = ("mon", "sat", "sun", "wed")
"""Short weekdays that are words or names as well."""
_AFTER_STOP = frozenset(",;:)0123456789")


class Calendar(NamedTuple):
    """Names and cue words of one language, in small letters."""

    months: Mapping[str, int]
    """Numbers of all names, short and full, from 1; those of days from 0."""
    days: Mapping[str, int]
    full: frozenset[str]
    """Names that are no abbreviations."""
    cues: WordLists
    """Lists of words by which dates and years are recognised."""
    plain: bool = False
    """Engines read full months and days in digits well, and two numbers with a slash are seldom a date."""
    hundreds: bool = False
    """Years before 2000 are said by hundreds."""

    def named_at(self, line: Tokens, place: int, names: Mapping[str, int]) -> tuple[int, int]:
        """Month or weekday at a place, and the place after it and its full stop; (-1, place) if there is none."""
        token = line[place]
        if token.fold not in names:
            return -1, place
        stopped = token.fold not in self.full and line.has(place + 1, ".", glued=True) and not line.last(place + 1)
        return names[token.fold], place + 1 + (stopped and not line.has(place + 2, ".", glued=True))


class Weekdays:
    def __init__(self, calendar: Calendar) -> None:
        self._calendar, self._cues, self._plain = calendar, calendar.cues, calendar.plain
        self._months, self._days, self._full = calendar.months, calendar.days, calendar.full
        self._and = frozenset("/") if self._plain else frozenset(("and", "&"))

    def parse(self, line: Tokens, place: int) -> Iterator[Classed]:
        day, stop = self._calendar.named_at(line, place, self._days)
        if line.dash(stop) or line.has(stop, self._cues["between_weekdays"]):
            last, end = self._calendar.named_at(line, stop + 1, self._days)
            if last >= 0:
                inside = self._plain or line[end].text[:1] in _AFTER_STOP or line[end].text.islower()
                stopped = line.has(end - 1, ".") and not inside
                yield Classed(place, end - stopped, Both(Weekday(day), Weekday(last)), _COST)
        others, after, sign = list[int](), stop, line[stop].text
        while sign in ("/", "-") and line.has(after, sign, glued=True) and not line[after + 1].gap:
            last, end = self._calendar.named_at(line, after + 1, self._days)
            if last < 0:
                break
            others, after = [*others, last], end - (line.has(end - 1, ".") and line.closing(end - 1))
        if others and (sign == "/" or len(others) > 1):
            yield Classed(place, after, Weekday(day, tuple(others)), _COST - 0.1)
        if line[place].fold not in self._full:
            yield from (self._short_weekday if self._plain else self._weekday_before)(line, place, day, stop)

    def _short_weekday(self, line: Tokens, place: int, day: int, stop: int) -> Iterator[Classed]:
        """Short weekday before a number or beside another weekday."""
        between = self._cues["between_days"]
        follows = line[stop + line.has(stop, ",:")]
        before = line.has(place - 1, between) and line[place - 2 - line.has(place - 2, ".")].fold in self._days
        beside = line.has(stop, between | {"/", ","}) and line[stop + 1].fold in self._days
        if line.has(place - 1, self._cues["after_numbers_only"]) or (line[place - 1].kind == "d" and not before):
            return
        signs = line[place - 1].text + line[stop + line.has(stop, ".")].text + line[place - 2].kind
        small = line[place].text.islower() or follows.text.islower()
        named = line.has(place - 1, self._cues["day_articles"]) and line.ends(stop) and line[stop].kind != "w"
        near = named or signs == "()d" or beside or before or (stop > place + 1 and small)
        if near or follows.kind == "d" or follows.fold in self._cues["parts_of_day"]:
            yield Classed(place, stop, Weekday(day), 0.35 if beside or before else 0.4)

    def _weekday_before(self, line: Tokens, place: int, day: int, stop: int) -> Iterator[Classed]:
        titled, stopped, word = line[place].text.istitle(), stop > place + 1, line.has(place, _WORDS)
        alone, before = line[stop].kind != "w" and line.ends(stop), line[place - 1]
        loose = line.has(place - 1, ("am", "pm")) and (alone or line.small)  # 10am sat
        listed = line.has(stop, ",") and line[stop + 1].fold in self._days  # Mon, Wed & Fri
        loose = loose or listed or (titled and before.fold != "the" and line.has(stop, ":"))  # Sun: closed
        dated = line[stop + (line[stop].kind == "d")].fold in self._months  # sat 12 oct
        if word and not (titled or stopped or loose or line[stop + 1].text == "/" or dated):
            return
        sure = not word or line[stop].fold in self._cues["parts_of_day"] or (titled and stopped)
        timed = before.kind == "d" or line.has(place - 1 - (before.text == "."), ("am", "pm", "m"))
        other = place - 2 if before.fold in self._and else stop + 1 if line.has(stop, self._and) else -1
        near = titled and (
            (line.has(place + 1, ".", glued=True) and place > 0 and (stopped or line[place].fold != "sun"))
            or (line.last(place) and before.text.isupper())
            or (before.fold in ("am", "pm", *self._cues["day_endings"]) or before.text[:1] == "0")
            or (alone and (timed or line.has(place - 1, self._cues["before_day"])))
            or (before.fold != "the" and line.short_days(self._days, self._full))
            or self._calendar.named_at(line, other, self._days)[0] >= 0  # Sat & Sun
        )
        near = near or loose or (sure and line.has(stop, self._cues["after_day"]))
        following = stop + line.has(stop, ",", glued=True)
        token = line[following + line.has(following, ("the",))]
        near = near or (token.gap and token.kind in ("d", "m")) or token.fold in self._months
        if near or line[place].fold in self._cues["sure_days"]:
            yield Classed(place, stop, Weekday(day), _COST)
