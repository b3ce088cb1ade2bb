"""Parsers of ranges, scores, ratios, quotas, versions, codes, labels and ordinals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from text.normalization.classes.codes import account, mixed
from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.fields import Elapsed
from text.normalization.classes.measures import Measures
from text.normalization.classes.numbers import Written, fraction_at, glued, written
from text.normalization.classes.numerals import AIRLINER
from text.normalization.classes.telephones import Identifier
from text.normalization.classes.tokens import DASHES, VULGAR, Tokens
from text.normalization.western.words import Locale, joined, noun_after, of, powered, spoken


class FractionParser:
    def __init__(self, locale: Locale, units: Measures) -> None:
        self._locale, self._units = locale, units

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        locale = self._locale
        second = line[place + 1]
        mixed = second.text in VULGAR or (second.kind == "d" and second.gap and line[place + 2].text == "/")
        whole = line[place].text if mixed and line[place].kind == "d" else ""
        above, below, after = fraction_at(line, place + bool(whole))
        house = line.cued(place, locale.cue["numbered"], 1 + line.has(place - 1, "."))
        if house or not below or (line[after - 1].kind == "d" and not self._is_fraction(line, after - 3, above, below)):
            return
        hindi = whole and above == 1 and below in (2, 4) and not locale.numbers  # forms of Hindi: साढ़े 3
        noun = noun_after(line, after)
        several = below == above + 1 > 2 and line.has(after, locale.cue["several"])  # 4/5 pers.
        alone = not place and line.last(after) and below in (5, 10)
        marked = alone or several or line.cued(place, locale.cue["marks"] | locale.cue["labels"], 3)  # note 4/5
        listed = str(below) in locale.fractions or (whole and not locale.numbers)
        mark = below == 10 and above > 1 and not whole
        summed = below > 1 and not line.folds.isdisjoint(locale.cue["sums"])  # simplifiez 12/18
        proper = summed or (0 < above < below and not mark and (above == 1 or listed))
        marked = marked and not (whole or summed) and line[place].kind == "d"
        if not proper or hindi or marked or len(whole) > 2 or (100 < below < 1000 and locale.numbers == "es"):
            return
        unit, end = self._units.unit(line, after)
        power, end = self._units.power(line, end) if unit else ("", end)
        end += bool(unit) and line.has(end, ".", glued=True) and line[end + 1].text[:1].islower()
        forms = powered(locale, unit, power) if unit else None
        halved = whole and (above, below) == (1, 2) and locale.feminine(noun) is not None
        halved = halved and (whole != "1" or not noun.endswith(("s", "i", "e")[: 2 + (locale.numbers == "it")]))
        if forms and (not noun.istitle() or len(noun) < 2):
            noun, after = forms[0].partition(" ")[0], end
        said = self._part(above, below, noun, bool(whole))
        if whole:
            half, thing = (above, below) == (1, 2), forms[whole != "1"] if forms else noun * bool(halved)
            number = locale.counted(locale.cardinal(int(whole)), noun)
            if thing and unit not in ("%", "‰") and (half or locale.numbers in ("es", "pt_BR")):
                form, per, rest = thing.partition(f" {locale.per} ")  # deux verres et demi, dos millas y media por hora
                number, forms = joined(locale, number, form), (per + rest,) * 2 if per else None
            said = f"{number} {locale.signs['&']} {said.rpartition(' ')[2] if half else said}"
            after += bool(halved and not unit)
        part = not whole and below > 2 and locale.of and unit not in ("%", "‰") and noun not in ("parte", "partes")
        if part and (forms or locale.feminine(noun)):
            said, after = f"{said} {of(locale, forms[0] if forms else noun)}", after + (not forms)  # un quart de litre
        elif forms:
            said = joined(locale, said, forms[bool(whole) or above > 1].lstrip())
        yield Classed(place, after, InWords("Fraction", said), 0.2 if summed else 0.3 if whole else 0.4)

    def _is_fraction(self, line: Tokens, place: int, above: int, below: int) -> bool:
        """True for two numbers with a slash that may be a fraction's."""
        padded = line[place].text[0] == "0" or line[place + 2].text[0] == "0"
        ended = line.ends(place + 3) and not line.has(place + 3, "/%", glued=True)
        return above < 1000 and below <= 1000 and ended and not (padded or _among_sets(line, place))

    def _part(self, above: int, below: int, noun: str, after_whole: bool) -> str:
        locale = self._locale
        if (above, below) == (1, 2):
            return locale.half[locale.feminine(noun) is True] if noun or after_whole else locale.fractions["2"][0]
        forms = locale.fractions.get(str(below))
        if forms is None:
            nth = locale.numbers in ("it", "fr")
            many = locale.ordinal(below, False) if nth else locale.cardinal(below) + locale.nths
            forms = (many.removesuffix("s") if locale.numbers == "es" else many, many)
            forms = forms if locale.numbers else (f"{locale.over} {below}", f"1 {locale.over} {below}")
        if not locale.numbers:
            return f"{locale.signs.get(str(above), above)} {forms[0]}" if above > 1 else forms[1]
        one = {"es": "un", "fr": "un", "it": "un", "pt_BR": "um"}[locale.numbers]
        if noun in ("partes", "parte") and locale.numbers in ("es", "pt_BR"):
            first, many = (re.sub("o(s?)$", r"a\1", form).replace("terci", "tercer") for form in forms)
            return f"{one}a {first}" if above == 1 else f"{locale.counted(locale.cardinal(above), noun)} {many}"
        return f"{one} {forms[0]}" if above == 1 else f"{locale.cardinal(above)} {forms[1]}"


def _among_sets(line: Tokens, place: int) -> bool:
    """True in a list of sets, in which no fraction can be: 6/4, 3/6."""
    return any(
        won is not None and lost is not None and won > lost and line[near + 1].text == "/" and "," in signs
        for near, signs in ((place - 4, line[place - 1].text), (place + 4, line[place + 3].text))
        for won, lost in ((line.number(near, 2, 7, 1), line.number(near + 2, 0, 7, 1)),)
    )


_MOST = 9
"""Most groups of a number with signs between them."""
_LABEL = re.compile(r"[A-Z]{1,3}")
_STOPPED = frozenset((*"ºªoa", "er", "ᵉ", "ᵉʳ", "os", "as"))
"""Endings of ordinals to which a full stop may be glued."""


class FigureParser:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self.starts = locale.cue["codes"] | locale.cue["long_codes"]
        self._coded = re.compile(rf"(?:{'|'.join(locale.cues.get('code_forms', '(?!)').split())})(?!\d)")

    def _ends(self, line: Tokens, place: int, signs: frozenset[str]) -> tuple[Written, Written] | None:
        """Numbers beside one of the signs, which has a space on both sides or on none."""
        first = written(line, place, self._locale.decimal)
        if first is None or line[first.after].fold not in signs or line[first.after].gap != line[first.after + 1].gap:
            return None
        last = written(line, first.after + 1, self._locale.decimal)
        return None if last is None or last.sign else (first, last)

    def ranges(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        locale = self._locale
        if not (found := self._ends(line, place, DASHES)):
            return
        first, last = found
        dash, ordinal = line[first.after], line.has(last.after, "ºª°", glued=True)
        spaced = dash.gap and (ordinal or (dash.text == "-" and not (len(first.whole) == 4 or first.grouped)))
        if spaced or line.has(last.after, "="):
            return
        numbers, after = [first, last], last.after
        while len(numbers) < _MOST and line.has(after, DASHES, glued=True) and glued(line, after + 1):
            if (more := written(line, after + 1, locale.decimal)) is None:
                break
            numbers.append(more)
            after = more.after
        if len(numbers) > 2 or len(first.whole) > 6:
            said = (spoken(locale, n) if n.plain and len(n.whole) < 5 else locale.digits(n.whole) for n in numbers)
            if all(len(number.whole) > 1 for number in numbers[1:]):
                yield Classed(place, after, InWords("Groups", ", ".join(said)), 0.45)
            return
        one, two = spoken(locale, first), spoken(locale, last, noun_after(line, after))
        if locale.numbers == "fr" and line.cued(place, locale.cue["laws"]):
            yield Classed(place, after, InWords("Law", f"{one} {locale.signs['-']} {two}"), 0.45)
        falling = int(first.whole) >= int(last.whole) and len(first.whole) > 2
        falling |= bool(AIRLINER.fullmatch(first.whole)) and last.whole.endswith("00")  # Boeing 737-800
        years = len(last.whole) == 2 and len(first.whole) == 4 and int(first.whole[2:]) < int(last.whole)
        score = line[after].fold == locale.to or bool(locale.cue["scores"] & line.folds)
        score |= years and int(first.whole[2:]) + 1 == int(last.whole)  # 2023-24
        bare = len(first.whole) > 2 and line[place - 1].kind == "w" and not line.has(place - 1, ("da", "dal"))
        bare = bare or locale.feminine(noun_after(line, after)) is not None
        to = "" if score and not locale.numbers else locale.joint_words("to") if bare else locale.to
        listed = line.has(place - 1, "#") or (line.has(place - 1, "°º") and 1990 < int(last.whole) < 2100)
        joint = "," if listed or (falling and not years) or (last.whole[0] == "0" != last.whole) else f" {to}".rstrip()
        yield Classed(place, after, InWords("Range", f"{one}{joint} {two}"), 0.5)

    def ratios(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Ratios, scales, scores with a colon; marks and quotas with a slash."""
        locale = self._locale
        if not (found := self._ends(line, place, frozenset(":/"))):
            return
        first, last = found
        sign, cued = line[first.after], line.cued(place, locale.cue["ratio"])
        if sign.gap and sign.text == ":" and locale.numbers and not cued:
            return
        if line.has(last.after, ":/", glued=True) and line[last.after + 1].kind == "d":
            return
        one, two = spoken(locale, first), spoken(locale, last, "")
        if last.grouped and len(last.whole) == 5 and last.whole < "6":  # 1:14.165
            last = last._replace(whole=last.whole[:2], fraction=last.whole[2:])
        timed = len(last.whole) == 2 and int(last.whole) < 60 and (last.fraction or int(first.whole) > 24)
        if sign.text == ":" and timed and not cued and line.folds.isdisjoint(locale.cue["scores"]):
            minutes = (int(first.whole), "minute"), (int(last.whole), "second")
            yield Classed(place, last.after, Elapsed(minutes, last.fraction), 0.45)
        elif sign.text == ":":
            named = {locale.signs[":"], locale.to} & {line[last.after + 1].fold, line[last.after].fold}
            joint = " " if named or line.cued(place, locale.cue["standards"]) else f" {locale.signs[':']} "
            yield Classed(place, last.after, InWords("Ratio", one + joint + two), 0.5)
        elif (first.whole, last.whole) in (("24", "7"), ("7", "24"), ("50", "50")):
            yield Classed(place, last.after, InWords("Ratio", f"{one} {two}"), 0.3)
        elif not (last.fraction and not first.fraction):
            law, totals = line.cued(place, locale.cue["laws"]), locale.cue["totals"]
            if not (int(first.whole) < 10_000 or len(last.whole) == 4 or law):
                return
            marked = line.cued(place, locale.cue["marks"]) or line.has(place - 1, "[") or len(last.whole) > 3  # [11/13]
            falls = (int(first.whole) > int(last.whole) and not law) or _among_sets(line, place)
            numbered = (line[place].gap and line.has(place - 1, ("º", "°", "n", "nº"))) or line.has(place - 2, ("n",))
            dated = law or (numbered and (1990 < int(last.whole) < 2100 or len(first.whole) > 2 == len(last.whole)))
            several = line.has(last.after, locale.cue["several"]) and line[last.after + 1].kind != "d"  # 6/11 ore 18
            sized = totals and not (falls or marked) and 9 < int(first.whole) < 100 and last.whole not in totals
            over = locale.signs.get("falling /", locale.over) if falls else locale.over
            over = locale.signs.get("of law", over) if dated else over
            over = locale.signs["or"] if first.plain and last.plain and not dated and (several or sized) else over
            over = locale.signs["/"] if falls and 1990 < int(first.whole) < 2100 else over  # n.º 2025/118
            over = "," if first.fraction and last.fraction and not marked else f" {over}"  # ODF 1.0/1.1
            two = locale.cardinal(2000 + int(last.whole)) if dated and re.fullmatch("0[0-9]", last.whole) else two
            cost = 0.2 if several or (dated and numbered) else 0.45 if marked else 0.55
            yield Classed(place, last.after, InWords("Quota", f"{one}{over} {two}"), cost)

    def counted(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Grouped numbers, decimals, and numbers that agree with their noun."""
        locale = self._locale
        number = written(line, place, locale.decimal)
        if number is None or not line.ends(number.after):
            return
        noun = noun_after(line, number.after + line.has(number.after, ("mil",)))
        said, bare = spoken(locale, number, noun), spoken(locale, number)
        if said.endswith("'") and noun:
            yield Classed(place, number.after + 1, InWords("Cardinal", said + noun), 0.6)
        elif not number.plain or said != bare or len(number.whole) > 15:
            named = number.whole == "1" and place > 1 and line[place - 1].text.istitle()  # el Sputnik 1
            if not (number.plain and said != bare and (named or line[place - 1].fold in locale.cue["labels"])):
                yield Classed(place, number.after, InWords("Cardinal", said), 0.6)

    def minutes(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Minute of a match beside a name, or after an article: Messi 12', 45'+2' Leão, al 90+3."""
        locale, minute = self._locale, line.number(place, 1, 120, 3)
        after = place + 1 + (marked := line.has(place + 1, "'’′", glued=True))
        added = line.number(after + 1, 1, 15, 2) if line.has(after, "+", glued=True) else None
        after += 2 + line.has(after + 2, "'’′", glued=True) if added is not None else 0
        before = line[place - 1 - line.has(place - 1, "'’,")]
        article, named = before.fold in locale.cue["minute_after"], before.fold in locale.all_units["min"]
        goals = named or before.fold in locale.cue["minute"] or line.folds & locale.cue["goals"]
        told = marked or (added and (article or goals))
        if not (minute and told) or before.fold in locale.cue["minutes"] or glued(line, after):
            return
        names = (before, line[after])[: 1 + bool(line[after].gap)]
        if article or goals or added or any(name.text.istitle() and len(name.text) > 2 for name in names):
            more = f" {locale.signs['+']} {locale.cardinal(added)}" if added else ""
            noun = "" if named else f"{locale.all_units['min'][0]} "
            number = noun + locale.cardinal(minute) + more if locale.numbers else f"{minute} {noun}".rstrip()
            said = locale.ordinal(minute, False) + more if article else number
            yield Classed(place, after, InWords("Minute", said), 0.3)

    def codes(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Digits after a word that announces a code, and numbers with zeros in front."""
        locale, token = self._locale, line[place]
        padded = token.kind == "d" and len(token.text) > 1 and token.text[0] == "0"
        if padded and line[place + 1].text not in (".", ","):
            yield Classed(place, place + 1, Identifier("", (token.text,)), 0.7)
        elif padded and line.has(place + 1, ".", glued=True) and glued(line, place + 2) and locale.decimal == ",":
            yield self._groups(line, place, 0.5)
        if token.kind == "d" and len(token.text) > 9:
            yield Classed(place, place + 1, Identifier("", (token.text,)), 0.7 + 0.2 * (len(token.text) < 13))
        text = "".join(" " * line[place + step].gap + line[place + step].text for step in range(11)).lstrip()
        if token.kind == "d" and self._coded.match(text):
            yield self._groups(line, place, 0.2)
        yield from account(line, place)
        yield from mixed(line, place)
        start = next((near for near in range(place + 1, place + 6) if line[near].kind == "d"), place)
        told = line.has(start - 1, locale.cue["tells"] | {":"})  # le code de confirmation est 482 913
        known = told or all(line[near].fold in {*".:º°#", *locale.cue["numbered"]} for near in range(place + 1, start))
        if token.fold in self.starts and start > place and known:
            groups, least = self._groups(line, start, 0.2), 2 if token.fold in locale.cue["codes"] else 4
            if (groups.last > start + 1 and least < 4) or len(line[start].text) > least + told:
                yield groups

    def _groups(self, line: Tokens, place: int, cost: float) -> Classed:
        groups, after = [line[place].text], place + 1
        while len(groups) < _MOST:
            if line[after].text in ("-", ".", "/") and not line[after].gap and glued(line, after + 1):
                groups.append(line[after + 1].text)
                after += 2
            elif line[after].kind == "d" and line[after].gap and len(line[after].text) in (2, 3, 4):
                groups.append(line[after].text)
                after += 1
            else:
                break
        return Classed(place, after, Identifier("", tuple(groups)), cost)

    def labels(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Letters and digits glued or with a hyphen: 21A, B12, IB3456, A-7."""
        locale, token = self._locale, line[place]
        if token.kind == "d" and len(token.text) <= 4:
            letter = line[place + 1]
            bare = letter.kind == "w" and not letter.gap and len(letter.text) <= 2 and letter.text.isupper()
            if bare and line.ends(place + 2) and not glued(line, place + 2):
                said = f"{locale.number(token.text)} {locale.spelled(letter.text)}"
                yield Classed(place, place + 2, InWords("Label", said), 0.6)
            return
        after = place + 1 + line.has(place + 1, ("-", "‑", "/"), glued=True)
        digits = line[after]
        if not (_LABEL.fullmatch(token.text) and glued(line, after) and line.ends(after + 1)) or len(digits.text) > 12:
            return
        number = locale.digits(digits.text) if len(digits.text) >= 5 else locale.number(digits.text)
        if re.fullmatch("[1-9].(?!00)..", digits.text) and len(token.text) == 2 and locale.numbers:
            number = f"{locale.number(digits.text[:2])} {locale.number(digits.text[2:])}"
        yield Classed(place, after + 1, InWords("Label", f"{locale.spelled(token.text)} {number}"), 0.6)

    def ordinals(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        locale, found = self._locale, written(line, place, self._locale.decimal)
        if found is None or not found.whole or found.fraction or len(found.whole) > 7:
            return
        after = found.after
        after += line.has(after, ".", glued=True) and not line[after + 1].gap and line[after + 1].text in _STOPPED
        ending = line[after]
        if ending.gap:
            return
        folded = len(ending.text) > 1 or (ending.text == "E" and line.shouted)
        kind = locale.ordinals.get(ending.fold if folded else ending.text)
        number = int(found.whole)
        said = locale.irregular.get(f"{number}{ending.fold if folded else ending.text}")
        if said is None:
            if kind is None or not (number and locale.numbers) or (ending.text == "°" and line.has(after + 1, "cf")):
                return
            said = locale.ordinal(number, kind.startswith("f"), ending.fold in ("er", "ᵉʳ"))
        many = ending.text in ("º", "ª") and line.has(after + 1, ("s",), glued=True)  # 2ºs
        if (many or (kind and kind.endswith("s"))) and not said.endswith("s"):
            said, after = f"{said}s", after + many
        stop = line.has(after + 1, ".", glued=True) and ending.kind == "w" and line[after + 2].text[:1].islower()
        cost = 0.28 if many else 0.38
        yield Classed(place, after + 1 + stop, InWords("Ordinal", said), cost)
        letter = line[after + 1]
        if letter.kind == "w" and not letter.gap and len(letter.text) == 1 and letter.text.isupper():
            yield Classed(place, after + 2, InWords("Ordinal", f"{said} {letter.text}"), cost)  # 3ºB
