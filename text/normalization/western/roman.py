"""Parser of Roman numerals: centuries, rulers, parts of a text, events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.tokens import Tokens
from text.normalization.western.words import Locale

_NUMERAL = re.compile(r"(?=[IVXLCM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
NUMERAL = re.compile(r"[IVXLCDM]\w*|(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})(?:e|er|ᵉ|es|ème)?|ier")
"""Words that may be numerals, with or without an ending."""
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_DOUBTFUL = word_list("I V X L C D M CD CC CV DC DI LI MI MC XL CI MD DM MM LL DL ML CL CM XXL XX VI XXX")
"""RomanParser that are words, units or sizes elsewhere."""


def roman_value(numeral: str) -> int:
    values = [_VALUES[letter] for letter in numeral]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))


class RomanParser:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        words = locale.roman
        self._centuries, self._before = word_list(words.centuries), word_list(words.before)
        self._parts, self._rulers, self._queens = map(word_list, (words.parts, words.rulers, words.queens))
        self._masculine, self._feminine = word_list(words.masculine), word_list(words.feminine)
        self._endings = word_list(words.endings)

    @cached_property
    def _near(self) -> frozenset[str]:
        return self._centuries | self._before

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        text, ending = token.text, ""
        if text.islower():
            text = text.upper() if self._named(line, place) else text
        for each in (*self._endings, *map(str.upper, self._endings if text.isupper() else ())):
            if text.endswith(each) and len(text) > len(each) and _NUMERAL.fullmatch(text[: -len(each)]):
                text, ending = text[: -len(each)], each.lower()
        unnamed = token.text.isupper() and token.text != "IER" and not self._named(line, place)
        if ending and (text in ("L", "C", "D", "M", "MM") or unnamed):
            return
        if not _NUMERAL.fullmatch(text) or line.has(place + 1, "'’", glued=True):
            return
        after = place + 1
        if not ending and line[after].text in ("º", "ª", "°", "ᵉ") and line[after].text and not line[after].gap:
            ending, after = line[after].text, after + 1
        number = roman_value(text)
        said = self._ordinal_form(line, after, number, ending) if ending else self._said(line, place, text, number)
        if said:
            yield Classed(place, after, InWords("Roman", said), 0.45)

    def _named(self, line: Tokens, place: int) -> bool:
        """True if a numeral in small letters follows or precedes a word that makes it one."""
        before = place - 1 - (line[place - 1].text == "." and not line[place - 1].gap)
        named = self._centuries | self._parts | self._rulers | self._queens
        if line[before].fold in named or line[place + 1].fold in self._before | self._feminine | self._masculine:
            return True
        return self._reaches(line, place, 1, self._before)

    def _ordinal_form(self, line: Tokens, after: int, number: int, ending: str) -> str | None:
        locale = self._locale
        if locale.numbers == "fr":
            if (number == 1) != ending.startswith(("er", "re")):
                return None
            return locale.ordinal(number, ending.startswith("re"))
        return locale.ordinal(number, ending == "ª")

    def _said(self, line: Tokens, place: int, text: str, number: int) -> str | None:
        locale, words = self._locale, self._locale.roman
        before = place - 1 - (line[place - 1].text == "." and not line[place - 1].gap)
        previous, following = line[before], line[place + 1]
        doubtful = text in _DOUBTFUL
        if following.kind == "w" and following.gap and (number < 100) and not line.has(before, self._rulers):
            if following.fold in self._feminine:
                return locale.ordinal(number, True)
            if following.fold in self._masculine:
                said = locale.ordinal(number, False)
                return re.sub("(?<=primer|tercer)o$", "", said) if locale.numbers == "es" else said
        if following.fold in self._before or previous.fold in self._centuries or self._lists(line, place):
            if number > 40:
                return None
            return locale.ordinal(number, False) if words.ordinal_centuries else locale.cardinal(number)
        if previous.fold in self._parts:
            return locale.ordinal(number, False) if words.ordinal_parts else locale.cardinal(number)
        if (
            previous.fold in self._rulers | self._queens
            and number < 100
            and (previous.text[:1].isupper() or len(text) > 1)
        ):
            ordinal = number <= words.ordinal_up_to or number == 1
            return locale.ordinal(number, previous.fold in self._queens) if ordinal else locale.cardinal(number)
        if doubtful and text != "XX" and text != "VI":
            return None
        if line.shouted and previous.kind == "w" and doubtful:
            return None
        if set(text) <= set("IVXL") and number < 60:
            if previous.kind == "w" and previous.text.istitle() and previous.gap | (before == 0):
                return locale.cardinal(number)
            if self._near & line.folds:
                return locale.ordinal(number, False) if words.ordinal_centuries else locale.cardinal(number)
            if len(text) > 2 and not doubtful:
                return locale.cardinal(number)
        if len(text) > 3 and number > 1000:
            return locale.cardinal(number)
        return None

    def _lists(self, line: Tokens, place: int) -> bool:
        """True for a numeral in a list of centuries: siglos XV, XVI y XVII; il XII e il XV secolo."""
        if not self._near & line.folds:
            return False
        return self._reaches(line, place, -1, self._centuries) or self._reaches(line, place, 1, self._before)

    def _reaches(self, line: Tokens, place: int, step: int, words: frozenset[str]) -> bool:
        """True if only numerals, short words and signs stand between a numeral and one of the words."""
        for _ in range(6):
            place += step
            token = line[place]
            if token.fold in words:
                return True
            numeral = _NUMERAL.match(token.text.upper())
            numeric = numeral is not None and len(token.text) - numeral.end() < 3
            if not (numeric or token.text in ("-", ",", "/") or len(token.text) < 3):
                break
        return False
