"""Parser of measures in a language's units: 5 km, 12KG, -5°C, 5-10%, 5x7 in., 300 kWh/year, 1920x1080, 3-5x."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed
from text.normalization.classes.fields import Coordinate, Measure, Multiple, Quantity, Sides
from text.normalization.classes.numbers import signed, written_number
from text.normalization.classes.tokens import Tokens

_COST = 0.5
_POWERS = {"²": "2", "³": "3"}
_TIMES = frozenset(("x", "×"))
_SPECIAL = frozenset("%‰°℃℉º")


_WAYS = ("n", "s", "e", "w")
_MAGNITUDES = frozenset(("hundred", "thousand", "million", "billion", "trillion"))
_LETTERS = {"k": "thousand"}
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁻^")
_FEET = frozenset("'’′")
_MOST_SIDES = 4
_LENGTHS = frozenset(("m", "km", "cm", "mm", "ft"))
_VOWELS = frozenset("aeiou")
_CURRENCY = frozenset("$£€")
_PORTIONS = frozenset(("ml", "l", "dl", "g", "kg", "oz", "lb", "tsp", "tbsp", "min", "h", "hr", "hrs", "s"))
"""Units of which a measure has several in its denominator: 250 mg/5 mL."""
_RULED = frozenset((2, 3, 4, 5, 6, 8, 16, 32, 64))
"""Denominators of fractions of lengths."""
_Symbols = list[tuple[tuple[str, ...], tuple[bool, ...], str]]
"""Units that begin with the same token: their tokens, the gaps between them and their symbols, the longest first."""


class Measures:
    """Parser for one language's tables (`units.toml`)."""

    words = frozenset(("-", "−", "."))

    def __init__(self, table: Mapping[str, object]) -> None:
        units: dict[str, object] = dict(table["units"])  # type: ignore[call-overload]
        self._per: dict[str, object] = units | dict(table["per"])  # type: ignore[call-overload]
        cues: dict[str, str] = dict(table["cues"])  # type: ignore[call-overload]
        self._cues = {name: word_list(listed) for name, listed in cues.items()}
        self._things = frozenset(form for thing in word_list(str(table["things"])) for form in (thing, f"{thing}s"))
        self._preferred = {symbol.casefold(): symbol for symbol in self._cues["folded"]}
        self._units, self._pers = self._index(units), self._index(self._per)

    def _index(self, units: Mapping[str, object]) -> dict[str, _Symbols]:
        found: dict[str, _Symbols] = defaultdict(list)
        for symbol in units:
            tokens = Tokens(symbol).tokens
            gaps = tuple(token.gap for token in tokens[1:])
            found[tokens[0].fold].append((tuple(token.text for token in tokens), gaps, symbol))
        for listed in found.values():
            listed.sort(key=lambda each: -len(each[0]))
        return found

    def _unit(self, line: Tokens, place: int, units: Mapping[str, _Symbols]) -> tuple[str, int]:
        """Symbol of the unit at a token and the place after it; ("", place) if there is none."""
        folded: set[str] = set()
        length = 0
        if line[place].text[-1:] == "s" and line[place].text[:-1].isupper():
            units = {} if len(line[place].text) > 2 else units  # HRs
        for parts, gaps, symbol in units.get(line[place].fold, ()):
            tokens = line.tokens[place : place + len(parts)]
            if tuple(token.gap for token in tokens[1:]) != gaps and symbol[0] != "°":
                continue
            if folded and len(parts) < length:
                break
            if tuple(token.text for token in tokens) == parts:
                return symbol, place + len(parts)
            if tuple(token.fold for token in tokens) == tuple(map(str.casefold, parts)):
                folded.add(symbol)
                length = len(parts)
        if not folded:
            fold = line[place].fold
            one = fold[:-1] if len(fold) in (3, 4) and fold[-1] == "s" and _VOWELS.isdisjoint(fold) else ""
            return (one, place + 1) if any(symbol == one for *_, symbol in units.get(one, ())) else ("", place)
        written = "".join(token.fold for token in line.tokens[place : place + length])
        if len(folded) == 1 and len(written) > 1:
            return folded.pop(), place + length
        symbol = self._preferred.get(written, "")
        if not symbol and len(written) == 1 and written in folded:
            following = line[place + 1]
            compound = not following.gap and (following.text in _POWERS or following.text in ("/", "^"))
            if units is self._pers or compound or (line.shouted and (line[place].gap or written == "s")):
                symbol = written
        return symbol, place + length

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        minus, start = signed(line, place)
        number, after = written_number(line, start)
        if not number or (minus and line[place].gap is False and line[place - 1].kind == "m"):
            return
        first = Quantity(number, minus, line[start].text != number)
        yield from self._measure(line, place, after, first, None, False)
        thousands = line.has(after, _LETTERS, glued=True) and line[after + 1].gap and line[after + 1].text[-1:] != "B"
        if thousands or (line.has(after, _MAGNITUDES) and line[after].gap):
            for large in self._measure(line, place, after + 1, first, None, False):
                if isinstance(large.fields, Measure):
                    fields = replace(large.fields, magnitude=_LETTERS.get(line[after].fold, line[after].fold))
                    yield large._replace(fields=replace(fields, singular=fields.singular and not first.is_one))
        joint = after + line.has(after, "%°", glued=True)
        unit, with_unit = self._unit(line, after, self._units)
        if unit and line.dash(with_unit):
            second, end = written_number(line, with_unit + 1)
            twice = second and self._unit(line, end, self._units)[0] == unit
            joint = with_unit if twice else joint
        if line[joint].fold in _TIMES and line[joint].gap == line[joint + 1].gap and line[joint + 1].kind == "d":
            second, end = written_number(line, joint + 1)
            if second:
                yield from self._measure(line, place, end, first, Quantity(second), True)
            yield from self._sides(line, place, after)
        elif line.has(after, _TIMES, glued=True) and not (minus or (line[after].text == "X" and len(number) > 3)):
            yield Classed(place, after + 1, Multiple(first), _COST)
        elif (
            line.dash(joint)
            or (line.has(joint, ("to",)) and line[joint + 1].kind == "d")
            or self._two_figures(line, joint, number)
        ):
            second_minus, second_start = signed(line, joint + 1)
            second, end = written_number(line, second_start)
            if second:
                last = Quantity(second, second_minus)
                for measured in self._measure(line, place, end, first, last, False):
                    if line[joint].text == "/" and isinstance(measured.fields, Measure):
                        over = "over" * (measured.fields.unit == "mmHg")
                        measured = measured._replace(fields=replace(measured.fields, joint=over))
                    yield measured
                if line[end].fold in _TIMES and not line[end].gap and line[joint].fold != "to":
                    yield Classed(place, end + 1, Multiple(first, last), _COST)

    def _two_figures(self, line: Tokens, place: int, number: str) -> bool:
        """True for a slash between two figures that are no fraction: 28/35 mpg, 120/240 V."""
        last = line.number(place + 1, 1, 99_999, 5)
        if last is None or not line.has(place, "/", glued=True) or line[place + 1].gap or not number.isdecimal():
            return False
        unit = line[place + 2]
        ruled = last in _RULED and unit.fold in ("in", "inch", "inches", "ft", "mi", '"', "″")
        return int(number) > 4 and not ruled and (last > 9 or int(number) > last)

    def by_signs(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Parser of inches and feet by their signs: 27", 22" x 14" x 9", 6' tall."""
        numbers: list[str] = []
        after = place
        unit = ""
        while True:
            number, after = written_number(line, after)
            foot = line[after].text in _FEET and not line[after].gap
            if not number or not (foot or after in line.inches_at) or (unit and unit != ("ft" if foot else "in")):
                return
            unit = "ft" if foot else "in"
            numbers.append(number)
            after += 1
            if line[after].fold not in _TIMES or len(numbers) == _MOST_SIDES or line[after + 1].kind != "d":
                break
            after += 1
        following = line[after]
        if following.text and not following.gap and (following.kind != "s" or following.text == "-"):
            return
        sure = len(numbers) > 1 or unit == "in" or line[after - 1].text == "′" or line[place + 1].text == ","
        if not sure and following.fold not in self._cues["after_feet"]:
            return
        article = line.has(place - 1, ("a", "an")) and following.gap and following.kind == "d"
        singular = article or self._is_noun(line, after) or self._describes(line, after)
        singular = singular or (line[after].kind == "d" and line[after + 1].kind == "w" and not line[after + 1].gap)
        if len(numbers) > 1:
            yield Classed(place, after, Sides(tuple(numbers), unit, singular), 0.3)
        else:
            yield Classed(place, after, Measure(Quantity(numbers[0]), unit, singular=singular), 0.4)

    def coordinates(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Parser of degrees with a way of the compass: 51°30′26″N, 40° N."""
        number, after = written_number(line, place)
        parts: list[str] = []
        for signs in (("°",), ("′", "'", "’"), ("″", '"', "”")):
            if not number or line[after].text not in signs:
                return
            parts.append(number)
            after += 1
            if line[after].fold in _WAYS:
                break
            number, after = written_number(line, after)
        if line[after].fold in _WAYS and (line[after].text.isupper() or line.small):
            degrees, minutes, seconds = (*parts, "", "")[:3]
            yield Classed(place, after + 1, Coordinate(degrees, minutes, seconds, line[after].text.upper()), 0.3)

    def _sides(self, line: Tokens, place: int, after: int) -> Iterator[Classed]:
        numbers = [written_number(line, place)[0]]
        spaced = line[after].gap and line[after].text == "×"
        while (
            len(numbers) < _MOST_SIDES
            and line[after].fold in _TIMES
            and line[after].gap == line[after + 1].gap
            and line[after + 1].kind == "d"
        ):
            number, after = written_number(line, after + 1)
            numbers.append(number)
        raised = line[after].text in _RAISED
        if 1 < len(numbers) < 4 and all(len(number) < 6 for number in numbers) and not (spaced or raised):
            yield Classed(place, after, Sides(tuple(numbers)), _COST)
            unit, end = self._unit(line, after, self._units)
            if unit and len(numbers) == 3 and line.ends(end):
                yield Classed(place, end, Sides(tuple(numbers), unit, once=True), 0.3)

    def _measure(
        self, line: Tokens, place: int, after: int, first: Quantity, last: Quantity | None, by: bool
    ) -> Iterator[Classed]:
        gap = " " if line[after].gap else ""
        if line[after].text == "-" and not line[after].gap and not line[after + 1].gap:
            gap, after = "-", after + 1
        symbol, end = self._unit(line, after, self._units)
        if symbol in ("bp", "bps"):
            symbol = "bp" if self._basis(line, first) else ("" if symbol == "bp" else symbol)
        if last and len(symbol) == 1 and line.dash(place + 1) and float(last.number) < float(first.number):
            return  # 747-8F
        if symbol in ("F", "C"):
            warm = line[after].text == symbol and not line.folds.isdisjoint(self._cues["warm"])
            hot = float(first.number) > 31 if symbol == "F" else "." in first.number
            farads = symbol == "F" and not line.folds.isdisjoint(self._cues["farads"])
            warm = warm or (line[after].text == symbol and hot and not farads)
            symbol = f"°{symbol}" if warm else symbol if farads else ""
        if not symbol or (gap == "-" and symbol[0] in _SPECIAL):
            return
        if by and last and symbol == "s" and not gap and len(first.number) == 1:
            yield Classed(place, end, Sides((first.number, last.number), symbol), 0.4)
            return
        if line.has(end, "/", glued=True) and line[end + 1].gap and line[after].fold == "w":
            return  # with
        power, end = _power(line, end)
        per, per_power = "", ""
        end += line.has(end, ".", glued=True) and line.has(end + 1, "/", glued=True)
        if line.has(end, "/", glued=True) and not line[end + 1].gap:
            per, per_end = self._unit(line, end + 1, self._pers)
            if not per:
                count, per_start = written_number(line, end + 1)
                per, per_end = self._unit(line, per_start, self._units) if count else ("", end)
                if per.lower() in _PORTIONS:
                    yield Classed(place, per_end, Measure(first, symbol, last, by, power, per, per_count=count), 0.3)
                elif line[end + 1].fold != "o" and line[end + 1].kind != "d" and line[end + 1].text not in _CURRENCY:
                    return
                per = ""
            else:
                per_power, end = _power(line, per_end)
                if line.has(end, "/", glued=True) and not line[end + 1].gap:
                    second, second_end = self._unit(line, end + 1, self._pers)
                    if second:
                        per, end = f"{per}/{second}", second_end
        if not self._fits(line, place, after, end, symbol, gap, first, last, by, power or per):
            return
        in_brackets = line[place - 1].text == "(" and line[end + line.has(end, ".", glued=True)].text == ")"
        if in_brackets:
            end += line.has(end, ".", glued=True)
        after_stop = line[end + 1]
        shouted = symbol in self._cues["stopped"] and line.shouted
        if line.has(end, ".", glued=True) and after_stop.text in (",", ";", ":"):
            end += not after_stop.gap
        elif line.has(end, ".", glued=True) and after_stop.gap and not line.last(end):
            end += after_stop.kind == "d" or after_stop.text[:1].islower() or shouted
        described = self._describes(line, end)
        article = line.has(place - 1, ("a", "an")) and line[place].gap
        packed = (
            in_brackets and line[place - 2].kind == "d" and line[end + 1].kind == "w" and self._is_noun(line, end + 1)
        )
        singular = gap == "-" or described or packed or (article and self._is_noun(line, end))
        yield Classed(place, end, Measure(first, symbol, last, by, power, per, per_power, singular), 0.4)

    def _fits(
        self, line: Tokens, place: int, after: int, end: int, symbol: str, gap: str,
        first: Quantity, last: Quantity | None, by: bool, compound: str,
    ) -> bool:  # fmt: skip
        """True unless the letters after the number are probably no unit."""
        following = line[end]
        if len(symbol) == 1 and symbol.isupper() and following.text == "." and line[end + 1].text.istitle():
            return False  # 123 N. Main St.
        if symbol == "st" and not self._is_stone(line, after, first):
            return False
        written = line[after].text
        if written.istitle() and written != symbol and written.casefold() in self._cues["untitled"]:
            return False
        if written == "HR" and not line.folds.isdisjoint(self._cues["innings"]):
            return False
        if symbol == "s" and len(first.number) == 3 and not line.folds.isdisjoint(self._cues["statuses"]):
            return False
        if symbol == "A" and line.folds.isdisjoint(self._cues["amps"]):
            return False
        if symbol in self._cues["only_apart"] and gap != " ":
            return False
        ended = following.text in (",", ";", ")", "") and first.number.isdecimal() and len(first.number) < 4
        exact = symbol == "s" and ("." in first.number or (ended or line.last(end - 1)))
        if symbol in self._cues["only_together"] and gap == " " and not (compound or exact):
            return False
        stopped = line.has(end, ".", glued=True) and (not line.last(end))
        if symbol in self._cues["never_apart"] and gap == " " and not (stopped or by or compound):
            return False
        if not following.gap and following.text in ("'", "’", "^", "²", "³", "⁻"):
            return False
        old = following.text == "-" and line[end + 1].fold == "old"
        numbers = following.text == "/" and line[end + 1].kind == "d"
        glued = not following.gap and not line[end + 1].gap and line[end + 1].kind != "s"
        if following.text in ("-", "/") and glued and not (old or numbers):
            return False
        return "⁻" not in (line[end].text, line[end + 1].text)

    def _is_stone(self, line: Tokens, after: int, first: Quantity) -> bool:
        """True for a weight of people in stones, whose sign isn't an ordinal's ending: 12st."""
        number = first.number
        return line[after].text == "st" and number.isdecimal() and 4 < int(number) < 40 and int(number) not in (21, 31)

    def _basis(self, line: Tokens, first: Quantity) -> bool:
        """True if "bps" are basis points: among words of rates, or few and without words of transmission."""
        if line.folds & self._cues["bits"]:
            return False
        return bool(line.folds & self._cues["basis"]) or float(first.number) < 300

    def _describes(self, line: Tokens, end: int) -> bool:
        place = end + line.has(end, self._cues["sized"])
        return line[place].gap and line[place].fold in self._things

    def _is_noun(self, line: Tokens, end: int) -> bool:
        token = line[end]
        return token.kind == "w" and token.gap and token.fold not in self._cues["no_noun"]


def _power(line: Tokens, place: int) -> tuple[str, int]:
    token = line[place]
    if token.gap:
        return "", place
    if token.text in _POWERS:
        return _POWERS[token.text], place + 1
    if token.text in ("2", "3") and line[place - 1].fold in _LENGTHS and line.ends(place + 1):
        return token.text, place + 1  # 8 m2
    if token.text == "^" and line[place + 1].text in ("2", "3"):
        return line[place + 1].text, place + 2
    return "", place
