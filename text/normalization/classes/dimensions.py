"""Parsers of several numbers in units: heights (5'11"), sides (1920x1080, 22" x 14"), angles (51°30′26″N)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from text.normalization.classes.cover import Classed, InWords, Parser
from text.normalization.classes.fields import Coordinate, Elapsed, Height, Measure, Sides
from text.normalization.classes.measures import TIMES, Measures
from text.normalization.classes.numbers import SIGNS, Written, glued
from text.normalization.classes.tokens import VULGAR, Tokens

_COST = 0.3
_MOST_SIDES = 4
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁻^")
_FEET = frozenset("'’′")
_INCHES = frozenset('″"”')
_SIDES = frozenset("WHDL")
_LENGTHS = frozenset(("in", "ft", "cm", "mm", "m", "wide", "long", "high", "tall", "deep"))
_ANGLE = (frozenset("°º˚"), _FEET, _INCHES)
"""Signs after degrees, minutes and seconds."""


class Dimensions:
    """Parser for one language's measures, with the compass's letters (`ways`), words after feet by their sign, and
    words after a side's number by letters (`sides`).
    """

    def __init__(
        self,
        measures: Measures,
        ways: frozenset[str],
        after_feet: frozenset[str] = frozenset(),
        sides: Mapping[str, str] = {},
    ) -> None:
        self._measures, self._ways, self._after_feet, self._side_words = measures, ways, after_feet, sides
        needs = TIMES.union("m" if measures.plain else ("ft", "-"), *_ANGLE)
        self.parser = Parser(SIGNS if measures.plain else frozenset("-−"), self.parse, needs=needs)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first = self._measures.number(line, place)
        if first is None:
            return
        yield from self._angle(line, place)
        yield from self._height(line, place)
        if not line.folds.isdisjoint(TIMES):
            yield from self._sides(line, place, first)
        if not self._measures.plain:
            yield from self._by_signs(line, place)
            yield from self._span(line, place, first)

    def _height(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Feet and inches, or meters and centimeters: 5'11", 5 ft 11 in, 6ft2, 1m75."""
        feet, sign = line[place].text, line[place + 1]
        inner = place + 2 + (line.has(place + 2, "-", glued=True) and sign.text in _FEET)
        more, after = line[inner], inner + 1
        height = Height(feet, more.text)
        if self._measures.plain:
            metric = line.number(place, 0, 9, 1) is not None and line.has(place + 1, ("m",), glued=True)
            if metric and more.kind == "d" and len(more.text) == 2:
                yield Classed(place, after, height, _COST)
            return
        minutes = line.number(place, 0, 99, 2)
        seconds = line.number(inner, 1 if more.text[:1] == "0" else 12, 59, 2)
        signed = sign.text in _FEET and not (sign.gap or more.gap) and inner == place + 2
        if minutes is not None and seconds and signed and line.has(after, _INCHES, glued=True):
            yield Classed(place, after + 1, Elapsed(((minutes, "minute"), (seconds, "second"))), _COST)
        counts = line.number(place, 1, 999, 3), line.number(inner, 0, 11, 2)
        if None in counts or more.text[0] == "0" < more.text:
            return
        if line.has(after, "½", glued=True) and line.has(after + 1, _INCHES, glued=True) and not sign.gap:
            yield Classed(place, after + 2, Height(feet, f"{more.text}.5"), _COST - 0.1)
        elif sign.text in _FEET and not sign.gap:
            closed = line.has(after, _INCHES, glued=True)
            alone = 3 < int(feet) < 8 and inner == place + 2 and not more.gap
            if closed or (alone and not line.has(after, sign.text, glued=True)):
                yield Classed(place, after + closed, height, _COST - 0.1 * closed)
        elif sign.fold == "ft" and (line.has(after, ("in", "ins")) or not more.gap):
            yield Classed(place, after + line.has(after, ("in", "ins")), height, _COST)

    def _angle(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Degrees with a way of the compass, or with minutes: 51°30′26″N, 40° N, 30°15′."""
        parts: list[Written] = []
        after = place
        for signs in _ANGLE:
            number = self._measures.number(line, after) if line[after].kind == "d" or not parts else None
            if number is None or not line.has(number.after, signs):
                break
            parts.append(number)
            after = number.after + 1
        way, plain = line[after], self._measures.plain
        named = way.text.upper() in self._ways and (not way.text.islower() or line.small)
        apart = way.gap and plain and len(parts) == 1
        if named and parts and not (apart and (line[after + 1].kind == "w" or way.text.islower())):
            yield Classed(place, after + 1, Coordinate(tuple(parts), way.text.upper()), 0.3)
        elif len(parts) > 1:
            yield Classed(place, after, Coordinate(tuple(parts), ""), 0.2)

    def _sides(self, line: Tokens, place: int, first: Written) -> Iterator[Classed]:
        """Numbers with x between them, each perhaps with a unit."""
        numbers, units, ways, after = self._chain(line, first, bool(self._side_words))
        if ways and all(ways) and len(numbers) > 1:
            yield Classed(place, after, Sides(tuple(numbers), tuple(units), ways=tuple(ways)), _COST - 0.1)
        numbers, units, _, after = self._chain(line, first, False)
        if len(numbers) < 2 or line[after].fold in TIMES:
            return
        sign, raised = line[first.after], line[numbers[-1].after].text in _RAISED
        spaced = sign.gap and sign.text == "×" and not self._measures.is_noun(line, numbers[-1].after)
        bare = sign.text in "xX" if self._measures.plain else not (spaced or first.sign or raised)
        short = all(len(n.whole) < 6 and not n.grouped for n in numbers) or self._measures.plain
        bare = bare and first.number != "0"  # 0x02
        if any(units[:-1]) and not (units[-1] or self._measures.plain) and _LENGTHS.isdisjoint(units):
            return  # 3 tbsp × 2.5
        if any(units[:-1]) or (units[-1] and len(numbers) > 2):
            yield Classed(place, after, Sides(tuple(numbers), tuple(units)), _COST)
        elif bare and short and len(numbers) < 4 and not (self._measures.plain and line[after].text == "="):
            after = numbers[-1].after
            if after in line.inches_at:  # 9x13" pan
                named = ("",) * (len(numbers) - 1) + ("in",)
                found = Sides(tuple(numbers), named, singular=self._measures.is_noun(line, after + 1))
                yield Classed(place, after + 1, found, _COST)
            yield Classed(place, after, Sides(tuple(numbers)), 0.5)

    def _chain(self, line: Tokens, first: Written, lettered: bool) -> tuple[list[Written], list[str], list[str], int]:
        """Numbers with x between them, their units, letters of their sides, and the place after them."""
        numbers, units, ways, after = [first], list[str](), list[str](), first.after
        while True:
            way, end = self._side(line, after) if lettered else ("", after)
            feet = lettered and line.has(end, _FEET, glued=True)
            unit = "in" if lettered and end in line.inches_at else "ft" * feet
            if unit:
                end += 1
            elif line[end].fold not in TIMES:
                unit, end = self._measures.unit(line, end)
            way, end = (way, end) if way or not lettered else self._side(line, end)
            units.append(unit)
            ways.append(way)
            after = end + (line.has(end, ".", glued=True) and line.has(end + 1, TIMES))
            joined = line[after].fold in TIMES and line[after].gap == line[after + 1].gap
            following = self._measures.number(line, after + 1) if joined and line[after + 1].kind == "d" else None
            if following is None or len(numbers) == _MOST_SIDES:
                return numbers, units, ways, after
            numbers.append(following)
            after = following.after

    def _side(self, line: Tokens, place: int) -> tuple[str, int]:
        """Word for a letter that names a side (45W x 30D, 24" H, 9" (W)), and the place after it; "" for none."""
        closed = line.has(place, "(") and line.has(place + 2, ")", glued=True)
        token, after = line[place + closed], place + 1 + 2 * closed
        lettered = token.text.isupper() or line[place - 1].kind != "d"
        way = self._side_words.get(token.fold, "") if len(token.text) == 1 and lettered else ""
        ends = closed or line[after].gap or line[after].fold in TIMES or line[after].kind == "s"
        return (way, after) if way and ends else ("", place)

    def _span(self, line: Tokens, place: int, first: Written) -> Iterator[Classed]:
        """Span between two units: 45 Hz–20 kHz."""
        unit, dash = self._measures.unit(line, first.after)
        last = self._measures.number(line, dash + 1) if len(unit) > 1 and line.dash(dash) else None
        other, after = self._measures.unit(line, last.after) if last else ("", place)
        if last and other not in ("", unit):
            after += line.has(after, ".", glued=True) and not line.last(after)
            yield Classed(place, after, Sides((first, last), (unit, other), joint="to"), _COST)

    def by(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """An x between two sides that are written in different ways: 12'6" x 9', 8½ × 11."""
        before, after = line[place - 1], line[place + 1]
        side = (
            place + 2 in line.inches_at
            or before.text in _FEET | _INCHES | VULGAR
            or line[place - 1 - (before.text == ".")].fold in _LENGTHS
            or after.text in VULGAR
            or line[place + 2].text in VULGAR
        )
        mixed = line[place + 3].text == "/" and line[place + 2].kind == "d"  # 29 x 36 1/4
        mixed |= before.kind == "d" and line[place - 2].text == "/" and line[place - 4].kind == "d"  # 33 1/8 x 60
        side = side or mixed or (line[place + 2].text in ("/", "-") and before.text != ")" and before.kind != "w")
        sided = line[place - 2].text in _SIDES and (before.text == ")" or before.kind == "d")  # W160 x D48, 9" (W) x 8"
        lettered = sided or (after.text in _SIDES and line[place + 2].kind == "d" and before.kind == "w")
        between = line[place].gap == after.gap and (after.kind == "d" or after.text in VULGAR)
        if "=" not in line.folds and (lettered or (side and between)):
            yield Classed(place, place + 1, InWords("Sides", "by"), 0.5)

    def _by_signs(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Inches and feet by their signs: 27", 22" x 14" x 9", 6' tall."""
        measures, numbers, after, unit, ended = self._measures, list[Written](), place, "", place
        while True:
            number = measures.number(line, after)
            if number is None:
                return
            after = number.after
            last = measures.number(line, after + 1) if line.dash(after) and not numbers else None
            feet = last and line.has(last.after, _FEET, glued=True) and line.has(last.after + 1, self._after_feet)
            if last and (feet or last.after in line.inches_at):  # 38-40", 3-6' tall
                noun = measures.is_noun(line, last.after + 1) or measures.describes(line, last.after + 1)
                span = Measure(number, "ft" if feet else "in", last, singular=noun and not feet)
                yield Classed(place, last.after + 1, span, _COST)
            foot = line.has(after, _FEET, glued=True)
            if numbers and glued(line, after + 1):  # 12' x 14'6"
                after = ended
                break
            if not (foot or after in line.inches_at) or (unit and unit != ("ft" if foot else "in")):
                return
            unit = "ft" if foot else "in"
            numbers.append(number)
            after = ended = after + 1
            if line[after].fold not in TIMES or len(numbers) == _MOST_SIDES or line[after + 1].kind != "d":
                break
            after += 1
        following = line[after]
        last = measures.number(line, after + 1) if unit == "in" and line.dash(after) else None
        if last and last.after in line.inches_at and len(numbers) == 1:  # 28"–34"
            yield Classed(place, last.after + 1, Measure(numbers[0], unit, last), _COST)
        if following.text and not following.gap and (following.kind != "s" or following.text == "-"):
            return
        sure = len(numbers) > 1 or line.has(place - 1, TIMES) or unit == "in"
        quoted = any(token.text in "'‘" and token.gap for token in line.tokens[:place])
        rise = following.gap and following.text.islower() and len(numbers[0].whole) > 1 and not quoted  # a 26' rig
        sure = sure or line[after - 1].text == "′" or line[place + 1].text == "," or rise
        if not sure and following.fold not in self._after_feet | TIMES:
            return
        article = line.has(place - 1, ("a", "an")) and following.gap and following.kind == "d"
        singular = article or measures.is_noun(line, after) or measures.describes(line, after)
        singular = singular or (following.kind == "d" and line[after + 1].kind == "w" and not line[after + 1].gap)
        if len(numbers) > 1:
            yield Classed(place, after, Sides(tuple(numbers), (unit,) * len(numbers), singular), _COST)
        else:
            yield Classed(place, after, Measure(numbers[0], unit, singular=singular), 0.4)
