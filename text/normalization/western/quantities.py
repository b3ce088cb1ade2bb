"""Parsers of measures, percentages, sides, angles and counted nouns."""

from __future__ import annotations

from collections.abc import Iterator

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.numbers import Written, glued, written
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.western.words import Forms, Locale, joined, noun_after, plural, spoken

_POWERS = {"²": 0, "³": 1, "2": 0, "3": 1}
_LENGTHS = frozenset(("m", "km", "cm", "mm", "dm", "mi", "ft", "pies", "किमी", "मी"))
_LONGEST_MATCH = 130
"""Minutes of the longest match."""
_MOST_SIDES = 4
_BY = frozenset(("x", "×"))
_DEGREES = frozenset("°º˚")
_MINUTES, _SECONDS = frozenset("′'’"), frozenset('″"”')
_LOOSE = frozenset(("s", "h", "v", "l", "a", "t", "b", "j", "f", "c", "d"))
"""Units of one letter that are none if they are glued to a number: 5s, 3A."""


class MeasureParser:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._units = locale.all_units
        self._spaced = {tuple(t.text for t in Tokens(name).tokens) for name in locale.units if " " in name}
        self._longest = max(map(len, self._units))
        self.starts = frozenset(name[0].casefold() for name in self._units)

    def unit(self, line: Tokens, place: int) -> tuple[Forms | None, int]:
        """Unit at a place with its power, and the place after it and after its full stop."""
        for length in range(self._longest, 0, -1) if line[place].fold in self.starts else ():
            run = [line[place + step] for step in range(length)]
            name = tuple(token.text for token in run)
            if any(token.gap for token in run[1:]) and name not in self._spaced:
                continue
            forms = self._units.get(name)
            if forms is None and sum(len(token.text) for token in run) > 1:
                forms = self._units.get(tuple(token.fold for token in run))
            if forms is None:
                continue
            after = place + length
            token = line[after]
            if token.kind == "w" and not token.gap:
                continue
            power = _POWERS.get(token.text) if not token.gap and run[-1].fold in _LENGTHS else None
            if power is not None:
                words = (self._locale.square, self._locale.cube)[power]
                pairs = zip(forms, words, strict=True)
                made = [f"{one} {two}" if self._locale.numbers else f"{two} {one}" for one, two in pairs]
                forms, after = (made[0], made[1]), after + 1
            elif token.text == "." and not token.gap and not line.last(after):
                following = line[after + 1]
                after += following.text in (",", ";", ":", ")", "/") or (
                    following.gap and (following.text[:1].islower() or following.kind != "w")
                )
            return forms, after
        return None, place

    def per(self, line: Tokens, place: int) -> tuple[str, int]:
        """Words for a slash and a unit or word after it; "" if there is none."""
        if not line.has(place, "/", glued=True) or line[place + 1].gap:
            return "", place
        token = line[place + 1]
        if said := self._locale.pers.get(token.fold.rstrip(".")):
            stop = line.has(place + 2, ".", glued=True) and not line.last(place + 2)
            return f" {said}", place + 2 + stop
        number = written(line, place + 1, self._locale.decimal) if token.kind == "d" else None
        forms, after = self.unit(line, number.after if number else place + 1)
        if forms:
            if number:
                return (
                    f" {self._locale.pers.get('#', self._locale.per)} {spoken(self._locale, number)} {forms[1]}",
                    after,
                )
            return f" {self._locale.per} {forms[0]}", after
        if token.kind == "w" and token.text == token.fold and len(token.text) > 2:
            return f" {self._locale.per} {token.text}", place + 2
        return "", place

    def range_end(self, line: Tokens, number: Written) -> tuple[Written | None, str]:
        """Last number of a range after a first one, and what is said between them."""
        dash = line[number.after]
        if dash.fold in DASHES and dash.fold and dash.gap == line[number.after + 1].gap:
            last = written(line, number.after + 1, self._locale.decimal)
            if last:
                return last, self._locale.to
        if (
            dash.text == "/"
            and not dash.gap
            and not line[number.after + 1].gap
            and number.plain
            and "or" in self._locale.signs
        ):
            last = written(line, number.after + 1, self._locale.decimal)
            if last and last.whole == number.whole and "each" in self._locale.signs:
                return last, self._locale.signs["each"]
            if last and last.plain and int(last.whole) > int(number.whole) >= 10:
                return last, self._locale.signs["or"]
        return None, ""

    def _said_by(self, locale: Locale, numbers: list[Written], joint: str, forms: Forms) -> str:
        said = [spoken(locale, number) for number in numbers[:-1]]
        many = len(numbers) > 1 or plural(locale, numbers[-1])
        said.append(joined(spoken(locale, numbers[-1], forms[many]), forms[many]))
        return f" {joint} ".join(said)

    def measures(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        locale = self._locale
        number = written(line, place, locale.decimal)
        if number is None:
            yield from self._alone(line, place)
            return
        yield from self._composite(line, place, number)
        yield from self._sides(line, place, number)
        numbers = [number]
        last, joint = self.range_end(line, number)
        if last:
            numbers.append(last)
        end = numbers[-1].after
        token = line[end]
        if token.text and token.text in "%‰％":
            name = locale.percent if token.text != "‰" else locale.signs.get("‰", locale.percent)
            said = f" {joint} ".join(spoken(locale, each) for each in numbers)
            if joint in (locale.signs.get("or"), locale.signs.get("each")):
                return
            yield Classed(place, end + 1, InWords("Percentage", f"{said} {name}"), 0.4)
            return
        inches = token.text in ('"', "″") and number.fraction and not token.gap and line[place - 1].text != '"'
        if inches and ("inch",) in self._units:
            said = self._said_by(locale, numbers, joint, self._units[("inch",)])
            yield Classed(place, end + 1, InWords("Inches", said), 0.35)
        apart = line[end + 1].gap or line[end + 1].kind == "s" or not line[end + 1].text
        if token.text in _MINUTES and token.text and not token.gap and apart and int(number.whole) <= _LONGEST_MATCH:
            said = self._said_by(locale, numbers, joint, self._units[("min",)])
            yield Classed(place, end + 1, InWords("Minutes", said), 0.45)
        if token.text in _DEGREES and token.text:
            yield from self._degrees(line, place, numbers, joint)
        forms, after = self.unit(line, end)
        if forms is None or (token.fold in _LOOSE and not token.gap and after == end + 1 and token.text != "h"):
            return
        doubtful = token.fold in locale.cue.get("doubtful_units", ()) and line[after].kind == "w"
        if doubtful and line[after].fold != locale.of:
            return
        if token.gap and token.text in ("A", "C", "D", "E", "F", "B", "a", "d", "e", "y"):
            return
        unit = after
        per, after = self.per(line, after)
        if (
            number.plain
            and after == unit == end + 1
            and len(numbers) == 1
            and token.text.islower()
            and len(token.text) > 3
        ):
            return  # espeak-ng reads "3 horas" well
        cost = 0.4
        yield Classed(place, after, InWords("Measure", self._said_by(locale, numbers, joint, forms) + per), cost)

    def _alone(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Unit of several signs without a number: en km/h."""
        forms, after = self.unit(line, place)
        if (
            forms
            and after > place + 1
            and line[place - 1].text != "/"
            and line[place].kind == "w"
            and line[after - 1].text != "."
        ):
            yield Classed(place, after, InWords("Unit", forms[1]), 0.6)

    def _composite(self, line: Tokens, place: int, number: Written) -> Iterator[Classed]:
        """Meters and centimeters: 1m75."""
        more = line[number.after + 1]
        if number.plain and line.has(number.after, ("m",), glued=True) and more.kind == "d" and len(more.text) == 2:
            forms = self._units[("m",)]
            said = f"{self._said_by(self._locale, [number], '', forms)} {self._locale.number(more.text)}"
            yield Classed(place, number.after + 2, InWords("Measure", said), 0.3)

    def _degrees(self, line: Tokens, place: int, numbers: list[Written], joint: str) -> Iterator[Classed]:
        """Temperatures and angles."""
        locale = self._locale
        end = numbers[-1].after
        scale = line[end + 1]
        name = {"C": "Celsius", "F": "Fahrenheit"}.get(scale.text, "")
        degree = (locale.units.get(f"°{scale.text}") if name else None) or locale.degrees[0]
        if name:
            yield Classed(place, end + 2, InWords("Temperature", self._said_by(locale, numbers, joint, degree)), 0.3)
        slashed = line.has(end + 1, "/", glued=True) and glued(line, end + 2)
        last = written(line, end + 2, locale.decimal) if slashed else None
        if last and line.has(last.after, _DEGREES, glued=True):
            after = last.after + 1 + line.has(last.after + 1, ("c", "f"), glued=True)
            first = f" {joint} ".join(spoken(locale, number) for number in numbers)
            both = f"{first}, {self._said_by(locale, [last], '', degree)}"
            yield Classed(place, after, InWords("Temperatures", both), 0.2)
        parts, after = self._angle(line, end + 1)
        way = locale.directions.get(line[after].text)
        way = way if parts or not line[after].gap else None
        if parts or way:
            said = [self._said_by(locale, numbers, joint, degree), *parts, *([way] if way else [])]
            yield Classed(place, after + bool(way), InWords("Coordinate", " ".join(said)), 0.2)
        noun = line[end + 1]
        cued = bool(locale.cue.get("degrees", frozenset()) & line.folds) or bool(numbers[0].sign)
        nominal = noun.kind == "w" and noun.gap and locale.feminine(noun.text) is not None
        doubtful = locale.numbers == "it" or line[end].text == "º"
        if (
            not doubtful
            or (not nominal and (cued or len(numbers[-1].whole) > 2))
            or (cued and not nominal)
            or len(numbers) > 1
        ):
            yield Classed(place, end + 1, InWords("Angle", self._said_by(locale, numbers, joint, degree)), 0.35)

    def _angle(self, line: Tokens, place: int) -> tuple[list[str], int]:
        """Minutes and seconds after degrees."""
        parts: list[str] = []
        for signs, forms in ((_MINUTES, self._locale.degrees[1]), (_SECONDS, self._locale.degrees[2])):
            number = written(line, place, self._locale.decimal) if line[place].kind == "d" else None
            if number is None or not line.has(number.after, signs, glued=True):
                break
            number = number._replace(whole=number.whole.lstrip("0") or "0")
            parts.append(self._said_by(self._locale, [number], "", forms))
            place = number.after + 1
        return parts, place

    def _sides(self, line: Tokens, place: int, number: Written) -> Iterator[Classed]:
        """Numbers with x between them, each perhaps with a unit; and 10x."""
        locale = self._locale
        numbers, units, after = [number], [], number.after
        while len(numbers) <= _MOST_SIDES:
            forms, end = self.unit(line, after) if line[after].fold not in _BY else (None, after)
            units.append(forms)
            after = end if forms else after
            if line[after].fold not in _BY or not line[after].text:
                break
            following = written(line, after + 1, locale.decimal)
            if following is None or line[after].gap != line[after + 1].gap:
                break
            numbers.append(following)
            after = following.after
        if 1 < len(numbers) <= _MOST_SIDES and (any(units) or line[number.after].text in ("x", "X")):
            said = []
            for each, forms in zip(numbers, units, strict=True):
                said.append(self._said_by(locale, [each], "", forms) if forms else spoken(locale, each))
            word = locale.by[0] if any(units[:-1]) or len(numbers) > 2 or units[-1] else locale.by[1]
            yield Classed(place, after, InWords("Sides", f" {word} ".join(said)), 0.35)
        elif (
            len(numbers) == 1 and line.has(number.after, ("x",), glued=True) and not _algebra(line, place, number.after)
        ):
            after = number.after + 1
            form = locale.times[plural(locale, number)]
            yield Classed(place, after, InWords("Multiple", f"{spoken(locale, number, form)} {form}"), 0.4)

    def counted(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Grouped numbers, decimals, and numbers that agree with their noun."""
        locale = self._locale
        number = written(line, place, locale.decimal)
        if number is None or not line.ends(number.after):
            return
        noun = noun_after(line, number.after)
        if noun.casefold() == "mil":
            noun = noun_after(line, number.after + 1)
        said = spoken(locale, number, noun)
        bare = spoken(locale, number)
        if said.endswith("'") and noun:
            yield Classed(place, number.after + 1, InWords("Cardinal", said + noun), 0.6)
        elif not number.plain or said != bare or len(number.whole) > 15:
            labelled = said != bare and line[place - 1].fold in locale.cue.get("labels", ())
            if not (number.plain and labelled):
                yield Classed(place, number.after, InWords("Cardinal", said), 0.6)


def _algebra(line: Tokens, place: int, letter: int) -> bool:
    """True for a number and x in a formula."""
    after, before = line[letter + 1], line[place - 1]
    return (after.text != "" and after.text in "+-−=<>≥≤²³^)·") or (before.text != "" and before.text in "=+−·(")
