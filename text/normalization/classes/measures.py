"""Parser of measures in a language's units: 5 km, 12KG, -5°C, 5-10%, 5x7 in., 300 kWh/year, 1920x1080, 3-5x, 1m75."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from text.locales.tables import WordLists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.fields import Measure, Multiple, Sides
from text.normalization.classes.numbers import SIGNS, Written
from text.normalization.classes.symbols import DEGREES, POWERS, VOWELS, Symbols
from text.normalization.classes.tokens import Tokens

_COST = 0.5
_NTHS = {"¹": "", "²": "2", "³": "3"}
TIMES = frozenset(("x", "×"))
_SPECIAL = frozenset("%‰°℃℉º˚")
_MAGNITUDES = frozenset(("hundred", "thousand", "million", "billion", "trillion", "bn", "mn", "tn"))
_LETTERS = {"k": "thousand", "bn": "billion", "mn": "million", "tn": "trillion"}
_LENGTHS = frozenset(("m", "km", "cm", "mm", "dm", "mi", "ft", "pies", "किमी", "मी", "सेमी", "मिमी", "फुट"))
_ALIKE = ("kJ kcal J cal", "g kg oz lb", "oz fl pt ml mL cl dl l L tsp tbsp cup", "mpg g")
_KINDS = (*(frozenset(kind.split()) for kind in _ALIKE), _LENGTHS)
"""Units of one kind: with a slash between them they are the same measure twice."""
_JOINTS = {"mmhg": "over", "mg": "over", "gb": "", "go": "", "tb": ""}
_FEET, _INCHES = frozenset("'’′"), frozenset('"″')
_CURRENCY = frozenset("$£€")
_PORTIONS = frozenset(("ml", "l", "dl", "g", "kg", "oz", "lb", "tsp", "tbsp", "min", "h", "hr", "hrs", "s"))
"""Units of which a measure has several in its denominator: 250 mg/5 mL."""
_SINGLE = frozenset("LlsgdhmK")
"""Units of one letter after "per"."""
_RULED = frozenset((2, 3, 4, 5, 6, 8, 16, 32, 64))
"""Denominators of fractions of lengths."""
_STONES = frozenset(map(str, (*range(5, 21), *range(22, 31), *range(32, 40))))
"""Weights of people in stones, whose sign isn't an ordinal's ending: 12st."""
_NO_TALLY = frozenset(("A", "G", "K", "AM", "PM", "AD", "BC", "CE"))
_LONGEST_MATCH = 130
"""Minutes of the longest match."""


class Measures:
    """Parser for one language's units.

    Args:
        units, pers: units by symbol, and those that stand after a slash only.
        cues: lists of words and symbols by which units are told from other letters.
        number: lexer of the language's numbers.
        plain: engines read numbers with full words well.
        noun: gender of a word that may be a noun after an ordinal; None for others.
    """

    def __init__(
        self, units: Mapping[str, object], pers: Iterable[str], cues: WordLists,
        number: Callable[[Tokens, int], Written | None], plain: bool = False, noun: Callable[[str], object] = bool,
    ) -> None:  # fmt: skip
        self.number, self.plain, self._noun = number, plain, noun
        self._times = "x" if plain else TIMES
        self._cues = cues
        self._things = frozenset(form for thing in self._cues["things"] for form in (thing, f"{thing}s"))
        folded = {symbol.casefold(): symbol for symbol in self._cues["folded"]}
        listed = ((unit, forms) for unit, forms in units.items() if isinstance(forms, tuple | list) and plain)
        self._full = {unit for unit, forms in listed if unit.islower() and len(unit) > 3 and unit in forms}
        self._symbols = frozenset(units)
        self._units, self._pers = Symbols(units, folded, plain), Symbols([*units, *pers], folded, plain, per=True)
        alone = (start for start in self._units.starting if start.isalpha() or start == "°") if plain else ()
        seconds = {
            start: {"²", "³", "^", *(parts[1] for parts in self._units.starting[start] if parts[1:])} for start in alone
        }
        counts = {count: {"-", *self._units.starting} for count in cues["counts"]}
        words = SIGNS.union(seconds) if plain else frozenset(("-", "−", "–", ".", "per"))
        bare = Parser.of(self.parse, {**(seconds if plain else {"per": {""}}), **counts})
        followed = {word: after for word, after in bare.followed.items() if word in counts}
        self.parser = Parser(words.union(counts), self.parse, bare=bare, followed=followed)

    def unit(self, line: Tokens, place: int) -> tuple[str, int]:
        """Symbol of the unit at a token and the place after it; ("", place) if there is none."""
        unit, after = self._units.at(line, place)
        return unit, after + (line.has(after, ".", glued=True) and line.dash(after + 1))

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first = self.number(line, place)
        if line[place].fold == "per":
            per, end = self._pers.at(line, place + 1)
            if per.startswith(line[place + 1].text) and (len(per) > 1 or per in _SINGLE):
                power, end = self.power(line, end)
                yield Classed(place, end, Measure(Written(""), "", per=per, per_power=power), 0.4)
        elif line[place].fold in self._cues["counts"]:
            yield from self._counted(line, place)
        elif first is None:
            yield from self._alone(line, place)
        if first is None:
            return
        after = first.after
        yield from self._measure(line, place, after, first)
        if "⁻" in line.folds:
            yield from self._inverse(line, place, first)
        thousands = line.has(after, _LETTERS, glued=True) and line[after + 1].gap and line[after + 1].text[-1:] != "B"
        if not self.plain and (thousands or (line.has(after, _MAGNITUDES) and line[after].gap)):
            for large in self._measure(line, place, after + 1, first):
                if isinstance(large.fields, Measure):
                    fields = large.fields._replace(magnitude=_LETTERS.get(line[after].fold, line[after].fold))
                    yield large._replace(fields=fields._replace(singular=fields.singular and first.number != "1"))
        joint = after + line.has(after, "%°'’′", glued=True)
        unit, with_unit = self.unit(line, after)
        if unit and line.dash(with_unit) and not (line[with_unit].gap and "=" in line.folds):
            second = self.number(line, with_unit + 1)
            joint = with_unit if second and self.unit(line, second.after)[0] == unit else joint
        sign = line[joint]
        if sign.fold in TIMES and sign.gap == line[joint + 1].gap and line[joint + 1].kind == "d":
            if second := self.number(line, joint + 1):
                yield from self._measure(line, place, second.after, first, second, "by")
        elif line.has(after, self._times, glued=True) and self._multiplies(line, place, first):
            listed = not place or line[place - 1].fold in self._cues["listing"]
            thing = line[after + 1]
            counts = listed and thing.gap and thing.kind == "w" and (thing.text.isupper() or thing.text[-1] == "s")
            yield Classed(place, after + 1, Multiple(first, counts=counts), 0.4 if self.plain else _COST)
        elif (word := self.joint(line, joint, first)) is not None and (last := self.number(line, joint + 1)):
            yield from self._measure(line, place, last.after, first, last, word)
            if line.has(last.after, self._times, glued=True) and sign.fold != "to" and word == "to":
                yield Classed(place, last.after + 1, Multiple(first, last), _COST)

    def _multiplies(self, line: Tokens, place: int, first: Written) -> bool:
        """True unless a number and x stand in a formula."""
        if not self.plain:
            divided = line.has(first.after + 1, "/", glued=True) and line[first.after + 2].kind == "d"  # 2x/3
            return not (first.minus or divided or (line[first.after].text == "X" and len(first.number) > 3))
        ahead = line.has(first.after + 1, "+-−=<>≥≤²³^)·") or first.number == "0"  # 0x
        return not (ahead or (line.has(place - 1, "=+−·(") and line[first.after + 1].kind != "w"))

    def joint(self, line: Tokens, place: int, first: Written) -> str | None:
        """Name of what stands between two numbers: "to", "or", "each" or "" for a pause; None for all else."""
        if line.dash(place) or (line.has(place, ("to",)) and line[place + 1].kind == "d" and not self.plain):
            return "to"
        last = line.number(place + 1, 1, 99_999, 5)
        if last is None or not line.has(place, "/", glued=True) or line[place + 1].gap:
            return None
        unit = line[place + 2]
        if self.plain:
            if unit.fold in _JOINTS:
                return _JOINTS[unit.fold]
            if any(line[place - 1].text in signs and line[place + 2].text in signs for signs in (DEGREES, _FEET)):
                return ""
            if line[place + 2].text in DEGREES and last > int(first.whole):
                return "to"
            each = "each" if line[place + 1].text == first.number else "or" if last > int(first.whole) >= 10 else ""
            return each if each in self._cues["joints"] and not (first.sign or first.fraction) else None
        if first.fraction or not first.whole:
            return None
        number = int(first.whole)
        ruled = last in _RULED and unit.fold in ("in", "inch", "inches", "ft", "mi", '"', "″")
        paired = number > 4 and not ruled and (last > 9 or number > last)  # 28/35 mpg, 120/240 V
        return ("over" if unit.fold == "mmhg" or line.has(place + 3, ("hg",)) else "") if paired else None

    def power(self, line: Tokens, place: int) -> tuple[str, int]:
        """Power of the unit before a place, and the place after it."""
        token, length = line[place], line[place - 1].fold in _LENGTHS
        if token.gap or not (length or not self.plain):
            return "", place
        if token.text in POWERS:
            return POWERS[token.text], place + 1
        if token.text in ("2", "3") and length and line.ends(place + 1):
            return token.text, place + 1  # 8 m2
        if token.text == "^" and line[place + 1].text in ("2", "3"):
            return line[place + 1].text, place + 2
        return "", place

    def _inverse(self, line: Tokens, place: int, first: Written) -> Iterator[Classed]:
        """Measure with a negative power of a unit: 9.8 m s⁻², 5 s⁻¹."""
        unit, end = self.unit(line, first.after)
        power, end = self.power(line, end)
        for symbol, raised, start in (("", "", first.after), (unit, power, end + line.has(end, "·⋅", glued=True))):
            per, after = self.unit(line, start)
            nth = _NTHS.get(line[after + 1].text) if line.has(after, "⁻", glued=True) else None
            if per and nth is not None:
                yield Classed(place, after + 2, Measure(first, symbol, power=raised, per=per, per_power=nth), 0.3)

    def _alone(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Unit of several signs without a number: en km/h."""
        unit, after = self.unit(line, place)
        power, after = self.power(line, after)
        if unit and after > place + 1 and line[place - 1].text != "/" and line[after - 1].text != ".":
            yield Classed(place, after, Measure(Written(""), unit, power=power), 0.6)

    def _counted(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Unit after a number in words: five km, six ft. tall, a ten-ft pole."""
        start = place + 1 + line.dash(place + 1)
        unit, end = self.unit(line, start)
        word, cues, (power, end) = line[start], self._cues, self.power(line, end)
        cased = word.text == unit or (unit.islower() and (word.text.istitle() or line.shouted))
        stopped = line.has(start + 1, ".", glued=True) and word.fold in cues["stopped"] and not line.last(start)
        short = len(unit) > 1 and VOWELS.isdisjoint(unit) and unit not in cues["untitled"]
        if unit and ((cased and (stopped or short or word.fold in cues["after_words"])) or end > start + 1):
            singular = line[place].fold in cues["single"] or start > place + 1 or self.describes(line, end)
            end += line.has(end, ".", glued=True) and not line.last(end)
            yield Classed(start, end, Measure(Written(""), unit, power=power, singular=singular), 0.4)

    def _measure(
        self, line: Tokens, place: int, after: int, first: Written, last: Written | None = None, joint: str = "to"
    ) -> Iterator[Classed]:
        gap = " " if line[after].gap else ""
        if line[after].text == "-" and not line[after].gap and not line[after + 1].gap:
            gap, after = "-", after + 1
        symbol, end = self.unit(line, after)
        if symbol in ("bp", "bps") and self._cues["bits"]:
            symbol = "bp" if self._basis(line, first) else ("" if symbol == "bp" else symbol)
        falls = last and len(symbol) == 1 and not self.plain and line.dash(place + 1)
        if last and falls and float(last.number) < float(first.number):
            return  # 747-8F
        symbol, end = ("C", after + 1) if symbol == "c." and line[after].text == "C" else (symbol, end)
        if symbol in ("F", "C") and self._cues["warm"]:
            warm = line[after].text == symbol and not line.folds.isdisjoint(self._cues["warm"])
            hot = float(first.number) > 31 if symbol == "F" else first.fraction or "f" in line.folds
            farads = symbol == "F" and not line.folds.isdisjoint(self._cues["farads"])
            warm = warm or bool(line[after].text == symbol and hot and not farads)
            symbol = f"°{symbol}" if warm else symbol if farads else ""
        quoted = symbol == '"' and self.plain and after not in line.inches_at
        if not symbol or (gap == "-" and symbol[0] in _SPECIAL) or quoted:
            return
        if joint == "by" and last and symbol == "s" and not gap and len(first.number) == 1:
            yield Classed(place, end, Sides((first, last), ("", symbol)), 0.4)
            return
        if line.has(end, "/", glued=True) and line[end + 1].gap and line[after].fold == "w":
            return  # with
        power, end = self.power(line, end)
        end += line.has(end, ".", glued=True) and line.has(end + 1, "/", glued=True)
        per, per_power, count, per_end = self.per(line, end)
        known = per or symbol[0] == "°" or line[end + 1].kind == "d" or line[end + 1].fold in ("o", *_CURRENCY)
        if line.has(end, "/", glued=True) and not (line[end + 1].gap or known or self.plain):
            return
        if count:
            yield Classed(place, per_end, Measure(first, symbol, last, joint, power, per, "", False, "", count), 0.3)
            return
        word = line[after].text in self._full and not (line.has(end, ".", glued=True) and not line.last(end))
        if per_end == after + 1 and last is None and first.plain and word:
            return  # 3 horas
        end = per_end
        if not self._fits(line, place, after, end, symbol, gap, first, last, joint, power or per):
            return
        in_brackets = line[place - 1].text == "(" and line[end + line.has(end, ".", glued=True)].text == ")"
        end += (in_brackets or self.plain) and line.has(end, ".", glued=True) and line[end + 1].text == ")"
        gapped, sign = line[end + 1].gap, line[end + 1].text in (",", ";", ":")
        if line.has(end, ".", glued=True) and (not line.last(end) if gapped else sign):
            end += 1  # the splitter has found that the stop ends nothing
        described = self.describes(line, end) or (line[end].fold == "v" and line[end + 1].kind == "d")
        article = line.has(place - 1, ("a", "an", "one")) and line[place].gap
        packed = in_brackets and line[place - 2].kind == "d" and self.is_noun(line, end + 1)
        engine = symbol == "L" and first.fraction and line[end].text.istitle()  # a 1.7L Honda
        attributive = (engine or symbol in self._cues["attributive"]) and line[place - 1].text != "="
        attributive = (
            attributive
            and not (power or per)
            and self.is_noun(line, end)
            and line[end].fold not in self._cues["masses"]
        )
        singular = gap == "-" or described or packed or attributive or line.has(end, "-", glued=True)
        singular = singular or (article and (self.is_noun(line, end) or (line[end].kind == "d" and line[end].gap)))
        warm = symbol[0] == "º" and (int(first.whole or 0) > 12 or bool(self._cues["degrees"] & line.folds))  # no 3ºC
        cost = 0.35 if self.plain and (symbol in DEGREES or warm) else 0.4
        yield Classed(place, end, Measure(first, symbol, last, joint, power, per, per_power, singular), cost)

    def per(self, line: Tokens, place: int) -> tuple[str, str, str, int]:
        """Unit after a slash or "", its power, the number before it and the place after them."""
        if not line.has(place, "/", glued=True) or line[place + 1].gap:
            return "", "", "", place
        per, end = self._pers.at(line, place + 1)
        if per:
            power, end = self.power(line, end)
            joined = line.has(end, "/", glued=True) and not line[end + 1].gap
            if joined and (second := self._pers.at(line, end + 1))[0]:
                return f"{per}/{second[0]}", power, "", second[1]
            ends = line.last(end) and line[end + 1].text != ")"
            return per, power, "", end + (self.plain and line.has(end, ".", glued=True) and not ends)
        token = line[place + 1]
        if token.kind == "d" and (number := self.number(line, place + 1)):
            per, end = self.unit(line, number.after)
            unit = self.unit(line, place - 1 - (line[place - 1].text == "."))[0]
            same = unit == per or any(kind.issuperset((unit, per)) for kind in _KINDS)  # 450 kJ/108 kcal
            if per[:1].isalpha() and not same and (self.plain or per.lower() in _PORTIONS):
                return per, "", number.number, end
        word = token.kind == "w" and token.text == token.fold and len(token.text) > 2
        word = word and line[place - 1].text not in ("C", "F")  # 200C/fan 180C
        if word and (self.plain or token.text[-1] != "s") and line[place + 2].text != "/":
            return token.text, "", "", place + 2 + (line.has(place + 2, ".", glued=True) and not line.last(place + 2))
        return "", "", "", place

    def _fits(
        self, line: Tokens, place: int, after: int, end: int, symbol: str, gap: str,
        first: Written, last: Written | None, joint: str, compound: str,
    ) -> bool:  # fmt: skip
        """True unless the letters after the number are probably no unit."""
        following, written, cues = line[end], line[after].text, self._cues
        if self.plain and line.has(end, ".", glued=True) and line[end + 1].kind == "w" and not line[end + 1].gap:
            return False  # 4-3 t.a.b.
        formula = symbol == "N" and not following.text[1:].islower() and len(following.text) > 1 and following.gap
        named = following.text == "." and not (following.gap or line.last(end))  # 123 N. Main St.
        if len(symbol) == 1 and symbol.isupper() and (named or formula or self._tallied(line)):
            return False  # 1 N NaOH; 13 V, 9 N, 7 D
        course = line[place - 1].text.isupper() and 2 < len(line[place - 1].text) < 5 and len(first.number) == 3
        course &= symbol == "L" and not gap  # BIO 110L
        paired = len(symbol) == 1 and written.isupper() and following.text == "/" and line[end + 1].kind == "d"
        paired = paired and not line[end + 2].gap and line[end + 2].text.isupper() and not self.unit(line, end + 2)[0]
        other = line[place - 2]
        lettered = line[place - 1].text == "/" and line[place - 3].kind == "d" and not other.gap
        lettered = lettered and len(other.text) == 1 and other.text.isupper() and not self.unit(line, place - 2)[0]
        if course or lettered or paired:
            return False  # 16R/34L, 720V/760M
        if (symbol == "ac" and not gap and "²" in line.folds) or (symbol == "%" and gap and following.kind == "d"):
            return False  # b² − 4ac, 7 % 2
        ordinal = symbol == "st" and not (written == "st" and first.number in _STONES)
        untitled = written.istitle() and written != symbol and written.casefold() in cues["untitled"]
        untitled |= written == "HR" and not (line.shouted or self.plain)
        ordinal |= written.isupper() and symbol.islower() and line.cued(place, cues["versions"] | cues["labels"])
        if ordinal or untitled:
            return False  # Ubuntu 22.04 LTS, artículo 1.124 CC
        named = line[place - 1].text.istitle() and place > 1 and first.whole[-1:] != "0"  # Porsche 911s
        named |= first.whole[::2] == "77"  # Boeing 787s
        status = len(first.whole) == 3 and (named or not line.folds.isdisjoint(cues["statuses"]))
        needed = cues["amps" if symbol == "A" else "forces" if symbol == "N" and not compound else ""]
        uncued = bool(needed) and not self.plain and line.folds.isdisjoint(needed)
        if uncued or (symbol == "s" and (status or (not gap and line[place - 1].kind == "d"))):  # 503s; 73 787s, 7 9s
            return False
        if symbol in cues["only_apart"] and gap != " " and not (compound or (symbol == "V" and len(first.whole) > 2)):
            return False
        doubtful = following.kind in ("w", "d") and line[after].fold in cues["doubtful_units"] and not first.fraction
        if doubtful and following.fold not in cues["of"]:
            return False
        alone = following.text in (",", ";", ")", "") or following.fold in cues["no_noun"]
        ended = alone and not first.fraction and len(first.whole) < 4
        exact = (symbol == "s" and (ended or line.last(end - 1))) or symbol not in cues["only_together"]
        exact |= symbol in "sA" and bool(first.fraction or cues["current"] & line.folds)
        exact &= symbol not in cues["never_apart"] or self._closed(line, end, symbol) or joint == "by"
        if gap == " " and not (exact or compound):
            return False
        if self.plain and written in DEGREES and end == after + 1:
            doubtful = written in cues["doubtful_degrees"] and not first.fraction
            cued = last or first.sign or cues["degrees"] & line.folds or line.has(place - 1, cues["before_degrees"])
            nominal = following.kind == "w" and following.gap and self._noun(following.text) is not None
            return not doubtful or (not nominal and bool(cued or len(first.whole) == 3))
        if self.plain and written in _FEET:
            return not gap and int(first.whole) <= _LONGEST_MATCH and (following.gap or following.kind in ("s", ""))
        if self.plain and written in _INCHES:
            return bool(first.fraction) and not gap and line[place - 1].text != '"'
        if not following.gap and following.text in ("'", "’", "^", "²", "³", "⁻"):
            return False
        old = following.text == "-" and line[end + 1].fold == "old"
        numbers = following.text == "/" and (line[end + 1].kind == "d" or symbol[0] == "°")  # 350°F/gas 4
        glued = not following.gap and not line[end + 1].gap and line[end + 1].kind != "s"
        old = old or (following.text == "-" and len(line[end + 1].text) > 3 and (len(symbol) > 1 or symbol in "VW"))
        if following.text in ("-", "/") and glued and not (old or numbers or (self.plain and following.text == "/")):
            return False
        return self.plain or "⁻" not in (line[end].text, line[end + 1].text)

    def _closed(self, line: Tokens, end: int, symbol: str) -> bool:
        """True if a full stop, a bracket or a metric measure in brackets follows: 9.2 in (234 mm)."""
        metric = line.has(end, "(") and line[end + 1].kind == "d" and not line.folds.isdisjoint(("mm", "cm", "m"))
        stopped = line.has(end, ".", glued=True) and (symbol == "in" or not line.last(end))
        return metric or stopped or line.has(end, ")")

    def _tallied(self, line: Tokens) -> bool:
        """True if numbers stand before other capitals than units', as in a league's table."""
        numbers = (place for place, token in enumerate(line.tokens) if token.kind == "d")
        letters = {line[place + 1].text for place in numbers if line.ends(place + 2)}
        known = self._symbols | _NO_TALLY
        return sum(each.isupper() and len(each) < 3 and each not in known for each in letters) > (not self.plain)

    def _basis(self, line: Tokens, first: Written) -> bool:
        """True if "bps" are basis points: among words of rates, or few and without words of transmission."""
        bits = line.folds & self._cues["bits"] or line[first.after].text == "BP"  # before present
        return not bits and (bool(line.folds & self._cues["basis"]) or float(first.number) < 300)

    def describes(self, line: Tokens, end: int) -> bool:
        place = end + line.has(end, self._cues["sized"])
        place += self.is_noun(line, place) and line[place].text.islower() and line.has(place + 1, self._things)
        return line[place].gap and line[place].fold in self._things  # 13kg gas bottle

    def is_noun(self, line: Tokens, end: int) -> bool:
        token, after = line[end], line[end + 1]
        verb = token.text.endswith(("ed", "ly")) and not after.gap  # 1.2 GB zipped, no 20 A fused plug
        verb |= token.fold.endswith("n") and after.text in "'’" and line.has(end + 2, ("t",), glued=True)
        return token.kind == "w" and token.gap and not verb and token.fold not in self._cues["no_noun"]
