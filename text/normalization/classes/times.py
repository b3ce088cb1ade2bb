"""Parser of times of day, durations and ratios: 10:30pm, noon–1pm, 3h 20m, it lasted 1:23:45, a ratio of 16:9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed
from text.normalization.classes.fields import Clock, Elapsed, MilitaryTime, Ratio, TimeSpan
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.5
_NAMED = {"noon": Clock(12, form="word"), "midnight": Clock(0, form="word")}
_HALVES = frozenset(("a", "p", "am", "pm", "m"))
_BEFORE_HOURS = frozenset(("at", "by", "until", "till", "@", "after", "before"))
_SIZES = {"day": 0, "hour": 1, "minute": 2, "second": 3}


def _half(line: Tokens, place: int) -> tuple[str, int]:
    """ "a" or "p" and the place after a.m., PM, …; ("", place) if there is none."""
    token = line[place]
    if token.fold in ("am", "pm"):
        stop = line.has(place + 1, ".", glued=True) and (line.last(place + 1) or token.text[1:] == "m")
        return token.fold[0], place + 1 + stop
    if token.fold in ("a", "p") and line.has(place + 1, ".", glued=True) and line.has(place + 2, ("m",), glued=True):
        return token.fold, place + 3 + line.has(place + 3, ".", glued=True)
    dash = line.dash(place + 1)
    letter = token.fold in ("a", "p") and not token.gap and (dash or line.ends(place + 1))
    before = line[place - 2]
    spanned = before.text in DASHES and line[place - 3].fold in _HALVES
    if letter and (before.text == ":" or dash or before.fold in _BEFORE_HOURS or spanned):
        return token.fold, place + 1
    return "", place


def _clock(line: Tokens, place: int) -> tuple[Clock | None, int, bool]:
    """Time at a place, the place after it, and whether it has a colon. Bare hours have the form "bare"."""
    if line[place].fold in _NAMED:
        return _NAMED[line[place].fold], place + 1, False
    hours = line.number(place, 0, 24, 2)
    if hours is None:
        return None, place, False
    after, minutes, seconds, colon, point = place + 1, 0, 0, False, False
    sign = line[after].text
    width = len(line[after + 1].text)
    if sign in (":", ".") and not line[after].gap and not line[after + 1].gap and width == 2:
        found = line.number(after + 1, 0, 59, 2)
        if found is not None:
            minutes, after, colon, point = found, after + 2, sign == ":", sign == "."
            if colon and line.has(after, ":", glued=True) and (more := line.number(after + 1, 0, 59, 2)) is not None:
                seconds, after = more, after + 2
    half, end = _half(line, after)
    if (half and hours <= 12) or (half and colon):
        return Clock(hours, minutes, seconds, half), end, colon
    if point:
        return Clock(hours, minutes, form="point"), after, False
    return Clock(hours, minutes, seconds, form="" if colon else "bare"), after, colon


class Times:
    """Parser of times and spans of time."""

    words = frozenset(_NAMED)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if (
            len(token.text) == 4
            and token.kind == "d"
            and token.text[0] == "0"
            and line.has(place + 1, ("hours", "hrs"))
        ):
            hours, minutes = int(token.text[:2]), int(token.text[2:])
            if hours < 24 and minutes < 60:
                yield Classed(place, place + 1, MilitaryTime(hours, minutes), _COST)
        clock, after, colon = _clock(line, place)
        if clock is None:
            return
        if line.dash(after):
            last, end, last_colon = _clock(line, after + 1)
            halves = clock.half or (last and last.half)
            signs = line.has(end, ("$", "€", "£", "%"), glued=True)
            opening = last is not None and colon and not last_colon and last.form == "bare" and 0 < last.hours < 13
            forms = (clock.form, last.form) if last else ()
            sure = not signs and (halves or opening or (colon and last_colon)) and "" in forms
            if last and (sure or (halves and "word" in forms)):
                yield Classed(place, end, TimeSpan(clock, last), 0.4)
        if clock.half or (colon and token.kind == "d"):
            yield Classed(place, after, clock, _COST)


class Durations:
    """Parser of durations in units (3h 20m) or after a word that announces them (it lasted 1:23:45)."""

    def __init__(self, calendar: Mapping[str, object]) -> None:
        self._units: dict[str, str] = dict(calendar["duration_units"])  # type: ignore[call-overload]
        cues: dict[str, str] = dict(calendar["cues"])  # type: ignore[call-overload]
        self._cues, self._after_cue = word_list(cues["duration"]), word_list(cues["duration_of"])
        self._races = word_list(cues["race"])

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        parts: list[tuple[int, str]] = []
        after = place
        while (count := line.number(after, 0, 9999, 4)) is not None and (unit := self._units.get(line[after + 1].fold)):
            if parts and _SIZES[unit] <= _SIZES[parts[-1][1]]:
                break
            parts.append((count, unit))
            after += 2
        if len(parts) > 1:
            thing = line[after]
            article = line.has(place - 1, ("a", "an")) and line[place].gap
            described = article and thing.gap and thing.kind == "w" and len(thing.text) > 2 and not thing.text.istitle()
            yield Classed(place, after, Elapsed(tuple(parts), described), 0.3)
        elif line.has(place + 1, ":", glued=True) and not line[place + 2].gap:
            yield from self._counter(line, place)

    def _counter(self, line: Tokens, place: int) -> Iterator[Classed]:
        numbers, after = [int(line[place].text[:4])], place + 1
        while line.has(after, ":", glued=True) and len(numbers) < 3 and len(line[after + 1].text) == 2:
            value = line.number(after + 1, 0, 59, 2)
            if value is None:
                return
            numbers.append(value)
            after += 2
        before = place - 1 - line.has(place - 1, (":",))
        cued = line[before].fold in self._cues or (
            line[before].fold in self._after_cue
            and (line[before - 1].fold in self._cues or line[before - 1].fold in ("time", "record", "run"))
        )
        race = line[before].fold == "in" and (len(numbers) > 2 or line.cued(before, self._races))
        cued = cued or race or line.has(after, self._races)
        if len(numbers) < 2 or not cued or line.has(after, ("am", "pm", "a", "p")):
            return
        parts = list(zip([0] * (3 - len(numbers)) + numbers, ("hour", "minute", "second"), strict=True))
        kept = [part for part in parts if part[0]] or parts[-1:]
        yield Classed(place, after, Elapsed(tuple(kept)), 0.3)


class Ratios:
    """Parser of two numbers with a colon between them."""

    def __init__(self, calendar: Mapping[str, object]) -> None:
        self._cues = word_list(dict(calendar["cues"])["ratio"])  # type: ignore[call-overload]

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first, last = line.number(place, 0, 9999, 4), line.number(place + 2, 0, 9999, 4)
        if first is None or last is None or not line.has(place + 1, ":"):
            return
        cued = line.cued(place, self._cues) or line.has(place + 3, self._cues)
        if line[place + 1].gap != line[place + 2].gap or (line[place + 1].gap and not cued):
            return
        if line.has(place + 3, DASHES, glued=True) and line[place + 4].kind == "d":
            return
        width = len(line[place + 2].text)
        point = line.has(place + 3, ".", glued=True) and line[place + 4].kind == "d" and not line[place + 4].gap
        if point and width == 2 and first < 60:
            yield Classed(place, place + 5, Ratio(first, last, True, line[place + 4].text), 0.3)
        timed = not cued and width == 2 and first > 24
        yield Classed(place, place + 3, Ratio(first, last, timed), 0.3 if cued else 0.6)
