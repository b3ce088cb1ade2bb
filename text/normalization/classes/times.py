"""Parser of times, durations, ratios and years: 10:30pm, noon–1pm, 3h 20m, it lasted 1:23:45, 16:9, '68, the 1980s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from text.locales.tables import WordLists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.fields import Both, Clock, Decades, Elapsed, MilitaryTime, Pair, Ratio, TimeSpan, Year
from text.normalization.classes.numbers import glued, written_number
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.classes.weekdays import Calendar

_COST = 0.39
_HALVES = frozenset(("a", "p", "am", "pm", "m"))
_ZONES = {"Z": "Zulu", "L": "local"}
_SECONDS = frozenset('"″s')
_SIZES = {"day": 0, "hour": 1, "minute": 2, "second": 3}
_YEAR_COST = 0.5
_ERAS = frozenset(("ad", "bc", "bce", "ce"))
_APOSTROPHES = frozenset("'’‘")
BEFORE_YEARS = _APOSTROPHES | {"fy", "q", "h"}


class Times:
    """Parser of times and spans of time.

    Args:
        named: hours of times that have a name: noon.
        cues: lists of words. `hours` stand after the hour in place of a colon (14h30), `oclock` after the time,
            `dotted_times` before a time with a point, or `before_times` and `occasions` or `timetables` in the line,
            `exact` before an hour that is exact, `before_hours` before one with a letter (at 5p), `packed` after 1130.
        halves: a.m. and p.m. are written.
    """

    def __init__(self, named: Mapping[str, int], cues: WordLists, halves: bool) -> None:
        self._named = {name: Clock(hours, form="word") for name, hours in named.items()}
        self._cues, self._hours, self._halves = cues, cues["hours"], halves
        listed = ("before_times", "dotted_times", "hours", "military", "oclock", "services")
        needs = _HALVES.union((":", "to", "z", "l"), DASHES, named, *(cues[name] for name in listed))
        self.parser = Parser(frozenset(named), self.parse, needs=needs, bare=Parser(frozenset(named), self.parse))

    def _half(self, line: Tokens, place: int) -> tuple[str, int]:
        """ "a" or "p" and the place after a.m., PM, …; ("", place) if there is none."""
        token = line[place]
        if token.fold in ("am", "pm"):
            stop = line.has(place + 1, ".", glued=True) and (line.last(place + 1) or token.text[1:] == "m")
            return token.fold[0], place + 1 + stop
        if token.fold in ("a", "p") and line.has(place + 1, ".", glued=True) and line.has(place + 2, ("m",)):
            return token.fold, place + 3 + line.has(place + 3, ".", glued=True)
        if not self._cues["before_hours"]:
            return "", place
        dash = line.dash(place + 1) and line[place + 2].kind == "d"
        letter = token.fold in ("a", "p") and not token.gap and (dash or line.ends(place + 1))
        before = line[place - 2]
        daily = line[place - 3].kind == "d" and not line.folds.isdisjoint(self._cues["weekdays"])
        spanned = before.text in DASHES and (daily or line[place - 3].fold in _HALVES)  # Fri 6-8p
        if letter and (before.text == ":" or dash or before.fold in self._cues["before_hours"] or spanned):
            return token.fold, place + 1
        return "", place

    def _clock(self, line: Tokens, place: int) -> tuple[Clock | None, int, bool]:
        """Time at a place, the place after it, and whether it has a colon or h. Bare hours have the form "bare"."""
        if line[place].fold in self._named:
            return self._named[line[place].fold], place + 1, False
        half, end = self._half(line, place + 1) if len(line[place].text) > 2 and self._halves else ("", place)
        known = half or line.has(place + 1, self._cues["packed"])
        if known and (packed := _military(line[place].text.zfill(4 * bool(half)))):
            return Clock(packed.hours, packed.minutes, 0, half), max(end, place + 2), True  # 1130AM, 1130 hrs
        if (hours := line.number(place, 0, 24, 2)) is None:
            return None, place, False
        after, minutes, seconds, form, named, fraction = place + 1, 0, 0, "bare", False, ""
        sign, following = line[after], line[after + 1]
        parting = ":." + next((sign for sign in "h," if line.has(place - 1, self._cues[f"before_{sign}"])), "")
        if sign.kind == "w" and sign.fold in self._hours:
            after, form, named = after + 1, "", not line.has(place - 1, self._cues["dotted_times"])
            found = line.number(after, 0, 59, 2) if len(following.text) == 2 and following.gap == sign.gap else None
            if found is not None:
                minutes, after = found, after + 1 + line.has(after + 1, ("min", "m", "mn"), glued=True)
        elif sign.text in parting and not (sign.gap or following.gap) and len(following.text) == 2:
            found = line.number(after + 1, 0, 59, 2)
            if found is not None:
                minutes, after, form = found, after + 2, "point" if sign.text == "." else ""
                more = line.number(after + 1, 0, 59, 2) if line.has(after, ":", glued=True) and not form else None
                if more is not None:
                    seconds, (fraction, after) = more, _fraction(line, after + 2)
                elif self._hours and line.has(after, ".:", glued=True) and line[after + 1].kind == "d":
                    return None, place, False
                if line.has(after, self._hours):
                    named, form, after = True, "", after + 1
                    after += line.has(after, ".", glued=True) and not line.last(after)
        colon = not form
        half, end = self._half(line, after) if self._halves else ("", after)
        end -= bool(self._hours) and line[end - 1].text == "." and not line[end].text  # the sentence's own
        if half and (hours <= 12 or colon):
            return Clock(hours or 12, minutes, seconds, half, named=named), end, colon
        if line.has(after, self._cues["oclock"]):
            named, after = True, after + 1
        return Clock(hours, minutes, seconds, form=form, named=named, fraction=fraction), after, colon

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token, zero = line[place], line[place].text[:1] == "0"
        full = line.cued(place, self._cues["before_hours"], 1 + line.has(place - 1, "."))
        zone = "" if line[place + 1].gap or self._hours else _ZONES.get(line[place + 1].text, "")
        local = line.has(place + 1, self._cues["military"]) and line.has(place + 2, self._cues["military"])  # hrs local
        military = _military(token.text) if full or zero or local or zone == "Zulu" else None
        if military and (zone or line.has(place + 1, self._cues["military"])):
            fields = military._replace(zone=zone)
            yield Classed(place, place + 1 + bool(zone), fields, -0.2)  # less than so many hours
        elif military and zero:
            end_of = _military(line[place + 2].text) if line.dash(place + 1) or line.has(place + 1, ("to",)) else None
            if end_of and not (military.minutes % 5 or end_of.minutes % 5):
                yield Classed(place, place + 3, Both(military, end_of), 0.2)
            elif full or line.has(place + 1, self._cues["weekdays"]):
                yield Classed(place, place + 1, military, 0.3)
        clock, after, colon = self._clock(line, place)
        if clock is None:
            return
        last, end, last_colon = self._clock(line, after + 1) if line.dash(after) else (None, after, False)
        if last:
            halves = clock.half or last.half
            alone = token.gap or line[place - 1].text == "("
            bare = last if colon and not last_colon else clock if last_colon and alone and not self._hours else None
            opening = (colon and self._hours) or (bare and bare.form == "bare" and 0 < bare.hours < 13)
            opening = opening or (self._hours and clock.form == "bare" and last_colon and last.hours > clock.hours)
            ended = last.named and (last.minutes or colon)
            forms = (clock.form, last.form)
            cues = self._cues["dotted_times" if self._hours else "opening"]  # Open 9-5.30
            cued = "point" in forms and not line.folds.isdisjoint(cues) and not (clock.minutes + last.minutes) % 5
            pointed = (cued or forms == ("point", "point")) and last.hours > clock.hours if self._hours else cued
            sure = "" in forms and (halves or opening or ended or (colon and last_colon))
            dated = line[after].gap and line[place - 1].fold in self._cues["dotted_times"]  # July 19 – 9:30 a.m.
            sure = sure and not (dated or (clock.seconds and last.form == "bare"))  # 13:02:44 - 3 of 8
            if ((sure or pointed) and not line.has(end, ("percent", *"$€£%"))) or (
                "word" in forms and (halves or colon or (forms[0] == "bare" and not last.hours % 12))
            ):
                yield Classed(place, end, TimeSpan(clock, last), 0.3)
        zulu = colon and line[after].text == "Z" and not line[after].gap  # 06:00Z, as 06:00 hrs
        if colon and not clock.half and (zulu or line.has(after, self._cues["military"])):
            yield Classed(place, after + zulu, MilitaryTime(clock.hours, clock.minutes, "Zulu" * zulu), 0.3)
        joint = line.has(after, self._cues["to_places"])  # the 3.40 at Kempton, the 08.52 Hull
        called = line.has(place - 1, self._cues["the"]) and (joint or zero) and line[after + joint].text.istitle()
        called |= line.has(after, self._cues["services"]) and line[after].gap and not self._hours
        near = place - 1 - line.has(place - 1, ",") * (1 + line.has(place - 2, "."))  # Thurs., 7.30
        timed = line[near].fold in self._cues["before_times"] or (line.has(place - 1, ",;") and "pm" in line.folds)
        timed &= (zero or clock.minutes % 5 == 0) and not line.folds.isdisjoint(self._cues["occasions"])
        timed |= british and line.has(near, ("at", "till", "until"))  # at 9.02
        called |= timed and line.folds.isdisjoint(self._cues["prices"])
        listed = not line.folds.isdisjoint(self._cues["timetables"]) and not line[after].text[1:].islower()
        cued = line[place - 1].fold in self._cues["dotted_times"] or (listed and not line.has(after, "€$£%°"))
        dotted = clock.form == "point" and (called or clock.named or cued)
        if clock.half or (colon and token.kind == "d") or dotted:
            exact = colon and not (clock.minutes or clock.named or clock.half)
            at = line[after].kind == "w" and line[after].fold not in (self._cues["after_times"] or line.folds)
            if (at and clock.named and clock.minutes) or (exact and line[place - 1].fold in self._cues["exact"]):
                clock = clock._replace(exact=True)
            told = clock.half and self._hours and line.has(place - 1, self._cues["parts_of_day"])  # रात 8 PM
            yield Classed(place, after, clock._replace(half="", named=True) if told else clock, _COST)


def _military(written: str) -> MilitaryTime | None:
    """Time of four digits without a sign: 0640."""
    hours, minutes = (int(written[:2]), int(written[2:])) if len(written) == 4 and written.isdecimal() else (24, 0)
    return MilitaryTime(hours, minutes) if hours < 24 and minutes < 60 else None


class Durations:
    """Parser of durations in units (3h 20m) by what is written for these, or after a word of `duration`, `duration_of`,
    `race` or `articles` (it lasted 1:23:45).
    """

    def __init__(self, units: Mapping[str, str], cues: WordLists) -> None:
        self._units, self._cues, self._after_cue = units, cues["duration"], cues["duration_of"]
        self._races, self._articles, self._remaining = cues["race"], cues["articles"], cues["remaining"]
        self.parser = Parser(frozenset(), self.parse, needs=frozenset((":", *units)))

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        parts: list[tuple[int, str]] = []
        after = place
        while (count := line.number(after, 0, 9999, 4)) is not None and (unit := self._units.get(line[after + 1].fold)):
            if parts and _SIZES[unit] <= _SIZES[parts[-1][1]]:
                break
            parts.append((count, unit))
            after += 2 + (line.has(after + 2, ".", glued=True) and not line.last(after + 2))
        rest = line.number(after, 0, 59, 2) if parts and parts[-1][1] == "hour" and not line[after].gap else None
        if rest is not None and line.cued(place, self._cues):  # dura 2h30
            parts, after = [*parts, (rest, "minute")], after + 1
        if parts and line[after - 1].text in _SECONDS and line[after].kind == "d" and not line[after].gap:
            yield Classed(place, after + 1, Elapsed(tuple(parts), line[after].text), 0.25)  # 1'21"046
        if len(parts) > 1 and (line[place + 1].kind == "w" or parts[-1][1] == "second"):
            thing = line[after]
            article = line.has(place - 1, self._articles) and line[place].gap
            described = article and thing.gap and thing.kind == "w" and len(thing.text) > 2 and not thing.text.istitle()
            yield Classed(place, after, Elapsed(tuple(parts), described=described), 0.25)
        elif self._cues and line.has(place + 1, ":", glued=True) and not line[place + 2].gap:
            yield from self._counter(line, place)

    def _counter(self, line: Tokens, place: int) -> Iterator[Classed]:
        numbers, after = [int(line[place].text[:4])], place + 1
        while line.has(after, ":", glued=True) and len(numbers) < 3 and len(line[after + 1].text) == 2:
            if (value := line.number(after + 1, 0, 59, 2)) is None:
                return
            numbers.append(value)
            after += 2
        before = place - 1 - line.has(place - 1, (":",))
        of = line[before].fold in self._after_cue
        cued = line[before - of].fold in self._cues or (of and line.has(before - 1, ("time", "record", "run")))
        race = line[before].fold == "in" and (len(numbers) > 2 or line.cued(before, self._races))
        cued = cued or race or line.has(after, self._races)
        one = len(line[place].text) == 1 or (
            not numbers[0] and (place < 2 or line.has(place - 1, "(["))
        )  # 1:14:52, which isn't 01:14:52; [00:01:15]
        cued = cued or (len(numbers) > 2 and one)
        article = line.has(place - 1, self._articles) and line.has(after, self._races)
        if article and len(numbers) == 2:
            yield Classed(place, after, Ratio(numbers[0], numbers[1], timed=True), 0.25)  # a 7:45 mile
        timed = len(numbers) == 2 == len(_fraction(line, after)[0])  # 3:32.45
        cued = cued or timed or (not numbers[0] and line.has(after, self._remaining))
        spoken = timed and line.has(place - 1, self._articles)  # a 1:58.74
        if len(numbers) < 2 or not cued or spoken or line.has(after, ("am", "pm", "a", "p")):
            return
        fraction, after = _fraction(line, after)
        parts = list(zip([0] * (3 - len(numbers)) + numbers, ("hour", "minute", "second"), strict=True))
        kept = [part for part in parts if part[0]] or parts[-1:]
        if fraction and kept[-1][1] != "second":
            kept.append((0, "second"))
        described = article and len(kept) > 1 and not fraction  # a 3:58:12 marathon
        yield Classed(place, after, Elapsed(tuple(kept), fraction, described), 0.3)


def _fraction(line: Tokens, place: int) -> tuple[str, int]:
    """Digits of a fraction of a second at a place, and the place after them."""
    digits = line[place + 1]
    if line.has(place, ".,", glued=True) and digits.kind == "d" and not digits.gap:
        return digits.text, place + 2
    return "", place


class Ratios:
    def __init__(self, cues: frozenset[str]) -> None:
        self._cues = cues

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        part, after = written_number(line, place)
        colon = line.has(after, ":", glued=True) and glued(line, after + 1)
        most, end = written_number(line, after + 1)
        if colon and (part != line[place].text or (len(part) < 4 < len(most))) and most.isdecimal():  # 1:50,000
            yield Classed(place, end, Pair(part, most, "to"), 0.3)
        first, last = line.number(place, 0, 99999, 5), line.number(place + 2, 0, 9999, 4)
        if first is None or last is None or not line.has(place + 1, ":"):
            return
        cued = line.cued(place, self._cues) or line.has(place + 3, self._cues)
        if line[place + 1].gap != line[place + 2].gap or (line[place + 1].gap and not cued):
            return
        if first > 999 and 1900 <= last < 2100 and line[place - 1].text.isupper():  # ISO 8601:2004
            yield Classed(place, place + 3, Year(last, before=str(first)), 0.2)
        if line.has(place + 3, DASHES, glued=True) and line[place + 4].kind == "d":
            return
        width = len(line[place + 2].text)
        point = line.has(place + 3, ".", glued=True) and line[place + 4].kind == "d" and not line[place + 4].gap
        if point and width == 2 and first < 60:
            yield Classed(place, place + 5, Ratio(first, last, True, line[place + 4].text), 0.3)
        timed = not cued and width == 2 and first > 24
        yield Classed(place, place + 3, Ratio(first, last, timed), 0.3 if cued else 0.6)


class Years:
    def __init__(self, calendar: Calendar) -> None:
        self._months, self._cues = calendar.months, calendar.cues
        self._plain, self._hundreds = calendar.plain, calendar.hundreds
        self._uncounted = self._cues["counted"].union("/-")
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
        if first < 2000 and not line[place - 1].text.isupper() and line[place + 1].fold not in self._uncounted:
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
            yield Classed(place, after, Year(year), _YEAR_COST)
        short = len(written) == 2 and written[0] == "0" and before.fold in self._cues["short_year"]
        if short and (line[after].gap or line.last(place)) and line[after].fold not in self._cues["counted"]:
            yield Classed(place, after, Year(int(written)), _YEAR_COST)
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
            yield Classed(place, after, Year(year), _YEAR_COST)

    def _last(self, line: Tokens, after: int, year: int) -> int:
        """The last year of a span, 1914-18 or 2024/25; 0 if there is none."""
        end = line[after + 1].text
        if line[after + 1].kind != "d" or line.has(after + 2, (*DASHES, "/"), glued=True):
            return 0
        end = f"{year % 100 // 10}{end}" if len(end) == 1 and year > 999 and line[after].text in "-–" else end  # 1553-8
        last = int(end) if len(end) in (2, 4) else 0
        if line.has(after, "/", glued=True) and not line[after + 1].gap:
            following = str(year + 1)
            return (last or (year > 99) * (year + 1)) if end in (following, following[-2:]) else 0
        spaced_hyphen = line[after].text == "-" and len(end) == 2 and last <= 12 and year > 99
        rises = 1000 <= last <= 2099 if len(end) == 4 else last > year % 100 and not spaced_hyphen
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
            yield Classed(place, place + 2, Year(year, before="fiscal year"), _YEAR_COST)
            if last := self._last(line, place + 2, year):
                yield Classed(place, place + 4, Year(year, last, "fiscal years"), 0.2)

    def _decades(self, line: Tokens, place: int, number: int) -> Iterator[Classed]:
        def at(start: int) -> tuple[int, int]:
            text = line[start].text
            end = start + 1 + line.has(start + 1, _APOSTROPHES, glued=True)
            ok = line[start].kind == "d" and line.has(end, ("s",), glued=len(text) < 4) and text[-1] == "0"
            ok = ok and (len(text) == 2 or (len(text) == 4 and "10" <= text[:2] <= "20" and text != "1000"))
            return (int(text), end + 1) if ok else (-1, start)

        first, after = at(number)
        marked = number > place
        reach = 1 + line.has(place - 1, (*DASHES, "."))
        sure = first >= 1100 or marked or self._plain or line.cued(number, self._cues["decade"], reach)
        sure |= line.has(after, self._cues["decade_things"]) or not line.folds.isdisjoint(self._cues["forecasts"])
        if first < 0 or not sure:
            return
        joint, start = line[after].fold, after + 1
        start += line.has(start, _APOSTROPHES) and not line[start + 1].gap
        last, end = at(start)
        if last >= 0 and (line.dash(after) or joint in ("to", "and", "or")):
            spoken = line[after].text if joint in ("to", "and", "or") else "to"
            yield Classed(place, end, Both(Decades(first), Decades(last), spoken), 0.3)
        yield Classed(place, after, Decades(first), 0.3)

    def _apostrophe(self, line: Tokens, place: int) -> Iterator[Classed]:
        if line[place + 1].kind != "d" or line[place + 1].gap or len(line[place + 1].text) != 2:
            return
        if line.has(place + 2, ("s", *_APOSTROPHES), glued=True):
            yield from self._decades(line, place, place + 1)
        first, after = int(line[place + 1].text), place + 3 + line.has(place + 3, _APOSTROPHES, glued=True)
        last = line.number(after, 0, 99, 2) if line.dash(place + 2) and len(line[after].text) == 2 else None
        if last is not None and (last > first or after > place + 3):
            yield Classed(place, after + 1, Year(first, last or 2000), 0.3)  # '98-'02
        if not line.has(place + 2, ("'", "’", '"'), glued=True):
            yield Classed(place, place + 2, Year(first), _YEAR_COST)
