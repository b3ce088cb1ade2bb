"""Parsers of numbers that engines misread: ordinals, fractions, ranges, magnitudes, zeros, powers of ten."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from math import gcd

from text.locales.tables import word_lists
from text.normalization.classes.cover import Classed
from text.normalization.classes.fields import Both, Fraction, Number, Ordinal, Pair, Span
from text.normalization.classes.numbers import LONGEST, SLASHES, fraction_at, signed, written_number
from text.normalization.classes.references import Labelled
from text.normalization.classes.tokens import VULGAR, Tokens

_COST = 0.5
ENDINGS = frozenset(("st", "nd", "rd", "th", "rds", "ths", "ˢᵗ", "ⁿᵈ", "ʳᵈ", "ᵗʰ"))
_RULER = frozenset((2, 3, 4, 5, 8, 16, 32, 64, 100))
"""Denominators of fractions that are not in lowest terms, and of those above twenty."""
_PERCENT = 100
_IN_PAIRS = frozenset((20, 50, 60, 80))
_OPERATORS = frozenset("=+*×÷")
_MARKS = {10: 1, _PERCENT: 10}
"""Numbers of which marks above another are said to be out."""
_MOST_COUNTED = 20
"""Largest number of which all is counted: 3/3 talents."""
_BEFORE_DATES = frozenset(("of", "on", "by", "until", "till", "since", "before", "after"))
_LEAST_CODE = 5
"""Digits from which a number after # is a code."""
_LEAST_ACCOUNT = 8
"""Digits in one run from which a number that counts nothing is a code."""
AIRLINER = re.compile(r"7\d7")
_SCREENS, _NAMED_K = frozenset("48"), frozenset(("1", "2", "4", "5", "8", "10"))
"""Numbers before k that name a screen, and those before K that name a screen or a run."""
_MAGNITUDE_LETTERS = frozenset("KMBT")
_ARTICLES = frozenset(("the", "a", "this", "my", "your", "our"))


class NumberForms:
    """Parsers for one language's table (`numerals.toml`)."""

    words = frozenset(("-", "−", "–", ".", "#", *VULGAR))

    def __init__(self, table: Mapping[str, Mapping[str, str]]) -> None:
        cues = word_lists(table["cues"])
        self._scored, self._scored_after, self._odds = cues["scored"], cues["scored_after"], cues["odds"]
        self._many, self._standards, self._races = cues["many"], cues["standards"], cues["races"]
        self._measured, self._shots = cues["measured"], cues["shots"]
        self._magnitudes = dict(table["magnitudes"])
        self._joints, self._slash_joints = table["joints"], table["slash_joints"]
        self._pairs, self._units = table["pairs"], table["fraction_units"]
        self._symbols = table.get("symbols", {})

    def ordinals(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        value, after = self._nth(line, place)
        if not value:
            return
        last, end = self._nth(line, after + 1) if line.dash(after) else (0, after)
        if last:
            yield Classed(place, end, Both(Ordinal(value), Ordinal(last)), _COST)
        yield Classed(place, after, Ordinal(value), _COST)

    def _nth(self, line: Tokens, place: int) -> tuple[int, int]:
        """Ordinal's value and the place after it; (0, place) if there is none, or the ending isn't its own (12st)."""
        written, after = written_number(line, place)
        if not line.has(after, ENDINGS, glued=True) or not written.isdecimal() or len(written) > LONGEST:
            return 0, place
        value, ending = int(written), unicodedata.normalize("NFKC", line[after].fold)
        own = "th" if 10 < value % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
        return (value, after + 1) if ending in (own, "th") and value else (0, place)

    def fractions(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        minus, start = signed(line, place)
        whole, above, below, after = self._mixed(line, start)
        yield from self._fraction_span(line, place, after)
        after += bool(below) and line.has(after, ENDINGS, glued=True)  # 1/4th, 3/4ths
        if not below:
            yield from self._rated(line, place)
            return
        if whole and not 0 < above < below:
            return
        unit, end, joined = self._unit(line, after)
        written = line[end - 1].text
        symbol = "" if written.casefold() in self._units else self._symbols.get(written, "")
        if unit and below > 1 and (not symbol or whole or (above < below and (above == 1 or below in _RULER))):
            noun = line[end].kind == "w" and line[end].gap and line.has(place - 1, ("a", "an"))
            described = joined or noun or (symbol.isupper() and self._noun(line, end))  # 1/4W resistor
            yield Classed(place, end, Fraction(whole, above, below, unit, described, minus), 0.3)
        sign = line[after - 1].text in VULGAR
        if whole or sign:
            joined = sign and not whole and line[after].text == "-" and line[after + 1].kind == "w"
            yield Classed(place, after, Fraction(whole, above, below, described=joined, minus=minus), 0.4)
        elif minus and line.has(place - 1, "=(<>≤≥≈") and above < below and line.ends(after):
            yield Classed(place, after, Fraction(0, above, below, minus=True), 0.4)
        elif not minus and line.ends(after) and not line.has(after, SLASHES, glued=True):
            fields, cost = self._slashed(line, place, after, above, below)
            yield Classed(place, after, fields, _COST + cost)

    def _mixed(self, line: Tokens, place: int) -> tuple[int, int, int, int]:
        """Whole number, numerator, denominator and the place after them; a denominator of 0 if there is no fraction."""
        token, following = line[place], line[place + 1]
        whole, after = 0, place
        if token.kind == "d" and len(token.text) < 7:
            if following.text in VULGAR:
                whole, after = int(token.text), place + 1
            elif (following.gap or following.text == "-") and len(token.text) < 5:
                second = place + 1 + (following.text == "-")
                inner = line[second].kind == "d" and not (following.text == "-" and line[second].gap)
                if inner and line.has(second + 1, SLASHES, glued=True):
                    whole, after = int(token.text), second
        return whole, *fraction_at(line, after)

    def _fraction_span(self, line: Tokens, place: int, after: int) -> Iterator[Classed]:
        """Span of which one end has a fraction, with a unit: 1-1 1/2 hrs, 1/4–1/2 cup."""
        ends = list[Fraction]()
        for start in (place, max(after, place + 1) + 1):
            if ends and not (line.dash(start - 1) or line.has(start - 1, ("to",))):
                return
            whole, above, below, after = self._mixed(line, start)
            if not below and (whole := line.number(start, 1, 999, 3) or 0):
                after = start + 1
            elif not 0 < above < below:
                return
            ends.append(Fraction(whole, above, below))
        first, last = ends
        unit, end, joined = self._unit(line, after)
        if unit and (first.below or last.below) and first.whole <= last.whole + (not first.below):
            whole = line[end - 1].fold[-1:] != "s" and len(line[end - 1].text) > 3 and line[end].kind == "w"
            last = last._replace(unit=unit, described=joined or whole)
            yield Classed(place, end, Both(first, last), 0.2)

    def _rated(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Score with a point: 7.5/10."""
        score, after = written_number(line, place)
        if "." not in score or not line.has(after, "/", glued=True) or line[after + 1].gap:
            return
        most, end = written_number(line, after + 1)
        whole = most[:1] not in ("", "0", ".") and line.ends(end)
        if whole and 2 < float(most) <= (10 if "." in most else _PERCENT) and float(score) <= float(most):
            yield Classed(place, end, Pair(score, most, "out of"), _COST)

    def _unit(self, line: Tokens, place: int) -> tuple[str, int, bool]:
        """Unit of a fraction, the place after it, and whether a hyphen joins it."""
        joined = line.has(place, "-", glued=True) and not line[place + 1].gap
        start = place + joined
        token = line[start]
        if line.has(start, "%", glued=True):
            return "%", start + 1, False
        if start in line.inches_at:
            return "in", start + 1, self._noun(line, start + 1)
        unit = self._units.get(token.fold, "") if token.fold != "c" or token.gap else ""
        if not unit and (len(token.text) > 1 or not token.gap):
            unit = self._symbols.get(token.text, "")
        if not unit or token.kind != "w" or not line.ends(start + 1):
            return "", place, False
        end = start + 1
        stop = line.has(end, ".", glued=True) and not line.closing(end)
        sure = stop or joined or line.closing(start) or not token.gap or token.text.isupper()
        if unit == "in" and not sure and line[end].kind in ("w", "d"):
            return "", place, False
        return unit, end + stop, joined

    def _noun(self, line: Tokens, place: int) -> bool:
        return line[place].kind == "w" and line[place].gap and line[place].fold not in self._measured

    def _slashed(self, line: Tokens, place: int, after: int, above: int, below: int) -> tuple[Fraction | Pair, float]:
        """Fields of two numbers with a slash, and what they cost more or less than a date's."""
        written = f"{above}/{below}"
        if written in self._pairs:
            return Pair(str(above), str(below), f"={self._pairs[written]}"), -0.15
        named = line[place - 1 - (line[place - 1].text == ".")].fold
        if named in self._slash_joints:
            return Pair(str(above), str(below), self._slash_joints[named]), -0.1
        odds = line.cued(place, self._odds, 3) or line.has(after, self._odds)
        races = below > above == 1 or line.folds.isdisjoint(self._races)
        odds = odds or not races or (above > below and line.has(place - 1, ("at",)))
        if (line[after - 1].text == "1" and above > 1) or odds:
            return Pair(str(above), str(below), "to"), -0.1
        scored = line.has(after, self._scored_after) or line.cued(place, self._scored, 2)
        noun = line[after]
        several = below > 4 and below not in _RULER and noun.gap and noun.kind == "w" and noun.fold[-1:] == "s"
        several = several and len(noun.text) > 4 and not line.has(place - 1, _BEFORE_DATES)
        scored = scored or self._counts_on(line, place, after) or several
        scored = scored or 1 < above == below < _MOST_COUNTED or above > _MARKS.get(below, above)
        if scored and above <= below and not line.has(after, ("of",)):
            return Pair(str(above), str(below), "out of"), -0.2 if line.has(after, self._shots) else -0.05
        releases = below == above + 1 and above > 7 and line[place - 1].text.istitle()  # Windows 10/11
        paired = above + below == _PERCENT or (above in _IN_PAIRS and below in _IN_PAIRS | {40})
        if releases or paired or min(above, below) >= _PERCENT:
            return Pair(str(above), str(below), ""), 0
        if 0 < above < below <= _PERCENT or 1 == above < below or (below in (2, 3, 4, 8) and 0 < above < 10):
            if above == 1 or below in _RULER or (below <= 20 and gcd(above, below) == 1):
                return Fraction(0, above, below), -0.1 * line.has(after, ("of",))
            coded = line[place - 1].text.isupper()  # class B23C 5/24
            return Pair(str(above), str(below), "slash" if coded else "out of"), 0.05
        over = above < 30 or (above <= 250 and 30 <= below <= 150)  # 22/7, a blood pressure
        return Pair(str(above), str(below), "over" if over else "out of" if 0 < above < below < 201 else "slash"), 0

    def _counts_on(self, line: Tokens, place: int, after: int) -> bool:
        """True for a word and a number of several by themselves, in brackets or before a colon: (attempt 3/5); 4/5."""
        opened = line[place - 1].kind == "w" and (place == 1 or line[place - 2].text in ("(", "["))
        alone = not place and line.last(after) and line[after - 1].text in ("5", "10")
        return alone or (opened and line[after].text in (")", "]", ":") and not line[after].gap)

    def ranges(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        minus, start = signed(line, place)
        first, after = written_number(line, start)
        if first[:1] in ("", ".") or not line.dash(after):
            return
        spaced = line[after].gap
        if spaced and (line.has(place - 1, "#") or (line[after].text in "-−" and line.folds & _OPERATORS)):
            return
        minus_last, second = signed(line, after + 1)
        last, end = written_number(line, second)
        if last[:1] in ("", ".") or not line.ends(end) or line[end].text == "'":
            return
        short = not spaced and first.isdecimal() and len(last) < len(first) > 2 and line[end].fold not in ("bc", "bce")
        if short and line.has(place - 1, ".:", glued=True):
            last = first[: -len(last)] + last  # Lancet 356:411-7
        padded = len(last) > 1 and last[0] == "0" != first[0]  # 1045-02
        phone = line[place - 1].text == ")" and (len(first), len(last)) == (3, 4)  # (540) 381 – 7665
        if phone or (padded and spaced and last.isdecimal()):
            return  # DAY 3 — 0600 HOURS
        model = last[1:] in ("00", "50") or (len(last) < 3 and line[place - 1].fold not in (".", "pages"))
        if AIRLINER.fullmatch(first) and not spaced and model:
            return  # the 737-800, the 787-9
        value, other, dated = float(first), float(last), line.has(place - 1, self._scored) and line[end].text.istitle()
        if line[end].text == "=":
            joint = "minus"
        elif spaced and line[after].text == "-" and (other <= value or line[place - 1].kind == "d" or dated):
            return
        elif not spaced and line[after].text == "-" and value >= 100 and other < value and len(first) == len(last):
            if line[place - 1].text[:1].isupper() or not place or line[place - 1].fold in ("boeing", "airbus"):
                return  # Boeing 747-400
            joint = "to"
        else:
            before = line[place - 1 - (line[place - 1].text == ".")].fold
            before = "no" if "nos" in line.folds and first.isdecimal() and len(last) > len(first) + 1 else before
            longer = last.isdecimal() and len(last) > max(4, len(first) + 2) and end == second + 1  # 79-92042
            dashed = (longer and not spaced) or (padded and last.isdecimal())
            joint = "" if first == last else "dash" if dashed else self._joints.get(before, "to")
            joint = "dash" if before in self._standards and other < value and not spaced else joint
        lower, upper = f"{'-' * minus}{first}", f"{'-' * minus_last}{last}"
        yield Classed(place, end, Span(lower, upper, joint), _COST)

    def numbers(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.text == "#":
            counted = line[place + 1]
            glued = line[place - 1].kind == "w" and not token.gap  # MLS# 20467193
            if counted.kind != "d" or (counted.gap and not glued):
                return
            before = f"{' ' * glued}number "
            after = place + 3 + line.has(place + 3, "#", glued=True)
            if line.dash(place + 2) and not line[place + 2].gap and line[after].kind == "d":
                yield Classed(place, after + 1, Span(counted.text, line[after].text, before="numbers"), _COST - 0.1)
            if line.ends(place + 2):
                one_by_one = len(counted.text) >= _LEAST_CODE
                yield Classed(place, place + 2, Number(counted.text, before, one_by_one=one_by_one), _COST)
            return
        minus, start = signed(line, place)
        if line[start].kind == "d" and len(line[start].text) > LONGEST:
            yield Classed(start, start + 1, Number(line[start].text, one_by_one=True), _COST)
            return
        number, after = written_number(line, start)
        if not number:
            return
        before = "minus " * minus
        yield from self._scientific(line, place, after, number, before)
        yield from self._large(line, place, after, number, before)
        if not line.ends(after) or line.has(after, ("^",), glued=True):
            return
        plain = number == line[start].text
        noun = line[after].kind == "w" and line[after].gap and line[after].fold[-1:] == "s"
        if plain and not minus and len(number) >= _LEAST_ACCOUNT and not (noun or line[place - 1].text in _OPERATORS):
            yield Classed(place, after, Number(number, one_by_one=True), _COST + 0.1)
            return
        grouped = not plain and "," not in "".join(t.text for t in line.tokens[start:after])
        groups = (after - start) // 2
        indian = not plain and groups > 1 and any(len(line[at].text) == 2 for at in range(start + 2, after - 1, 2))
        if plain and not minus and not (len(number) > 1 and number[0] == "0"):
            return
        whole, _, fraction = number.partition(".")
        zeros = (whole[:1] == "0" and len(whole) > 1) or (fraction[-1:] == "0" and len(fraction) < 4)
        if minus or zeros or not whole or (grouped and not fraction) or indian:
            yield Classed(place, after, Number(number, before), _COST + 0.1)

    def _scientific(self, line: Tokens, place: int, after: int, number: str, before: str) -> Iterator[Classed]:
        ten = line.has(after, ("x",)) and line.has(after + 1, ("10",), glued=True)
        if ten and line.has(after + 2, "^", glued=True):
            below, at = signed(line, after + 3)
            if line[at].kind == "d" and len(line[at].text) < 4:
                yield Classed(place, at + 1, Number(number, before, exponent="-" * below + line[at].text), _COST)
        build = line[after].text == "E" and "." not in number and len(line[after + 1].text) > 2  # 21E236
        if build or not line.has(after, ("e",), glued=True):
            return
        sign = line[after + 1].text if line[after + 1].text in ("-", "+", "−") else ""
        power = line[after + 1 + bool(sign)]
        if power.kind == "d" and not power.gap and len(power.text) < 5 and not line[after + 1].gap:
            exponent = power.text if sign in ("", "+") else f"-{power.text}"
            yield Classed(place, after + 2 + bool(sign), Number(number, before, exponent=exponent), _COST)

    def _large(self, line: Tokens, place: int, after: int, number: str, before: str) -> Iterator[Classed]:
        """Number with a letter for a magnitude: 10k, 5M+, 5-10k."""
        last = ""
        if line[after].text in ("-", "–") and not line[after].gap and not line[after + 1].gap:
            last, after = written_number(line, after + 1)
            if not last:
                return
        token, following = line[after], line[after + 1]
        magnitude, cost = self._magnitudes.get(token.text, ""), _COST
        counted = line.has(after + 1 + (following.text == "+"), self._many)
        if token.fold in ("m", "b") and counted:
            magnitude, cost = "million" if token.fold == "m" else "billion", 0.3  # less than a measure
        label = line[place - 1 - (line[place - 1].text in (":", "."))].text
        lettered = token.text == "B" and len(label) > 3 and label.istitle() and len(number) < 3  # Session 2B, Grade: 7B
        paired = line[place - 1].text == "/" and line[place - 2].kind == "w" and line[place - 2].text != token.text
        lettered = lettered or (paired and not line[place - 1].gap)  # 720V/760M
        series = line.lettered.get(number, set())
        labelled = len(series) > 1 and token.text in series and not series <= _MAGNITUDE_LETTERS  # in 2A and 2B
        if labelled and not (last or token.gap):
            yield Classed(place, after + 1, Labelled("", (f"{number}{token.text}",)), 0.3)
            return
        sexes = token.text == "M" and len(number) < 3 and "f" in line.folds  # 2M, 1F
        lettered = lettered or (line.has(after + 1, "'’", glued=True) and line[after + 2].fold == "s")  # 4B's tenant
        lettered = lettered or (number[0] == "0" and number[1:2].isdecimal())  # 00412B
        if not magnitude or sexes or lettered or token.gap or (not line.ends(after + 1) and following.text != "-"):
            return
        named = _SCREENS | _NAMED_K if line.has(place - 1, _ARTICLES) else _SCREENS
        named = {"k": named, "K": _NAMED_K}.get(token.text, frozenset())
        if not last and number in named and not counted and following.text != "+":
            return
        plus = line.has(after + 1, "+", glued=True) and line[after + 2].kind != "w"
        end = after + 1 + plus
        large = Span(number, last, magnitude=magnitude) if last else Number(number, before, magnitude, plus=plus)
        yield Classed(place, end, large, cost)
