"""Parser of fractions: 1/2, 2 1/2, ½ kg."""

from __future__ import annotations

import re
from collections.abc import Iterator

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.tokens import Tokens
from text.normalization.western.numbers import joined, noun_after, vulgar
from text.normalization.western.quantities import MeasureParser
from text.normalization.western.words import Locale


class FractionParser:
    def __init__(self, locale: Locale, units: MeasureParser) -> None:
        self._locale, self._units = locale, units

    def parse(self, line: Tokens, place: int) -> Iterator[Classed]:
        locale = self._locale
        found = vulgar(line, place)
        whole = None
        start = place
        if found is None and line[place].kind == "d" and vulgar(line, place + 1):
            whole, start = line[place].text, place + 1
            found = vulgar(line, start)
        after = start + 1
        if found is None:
            if (
                line[place].kind == "d"
                and line[place + 1].gap
                and line[place + 2].text == "/"
                and line[place + 1].kind == "d"
            ):
                whole, start = line[place].text, place + 1
            found = self._slashed(line, start)
            after = start + 3
            if found is None:
                return
        above, below = found
        noun = noun_after(line, after)
        mark = below == 10 and above > 1 and not whole
        proper = (
            not mark and 0 < above < below and (str(below) in locale.fractions or (above == 1 and 2 <= below <= 1000))
        )
        if not proper or (whole and len(whole) > 2):
            return
        forms, end = self._units.unit(line, after)
        if forms and not noun.istitle():
            noun, after = forms[0], end
        said = self._part(above, below, noun, whole is not None)
        if forms and not whole:
            said = joined(said, forms[0] if above == 1 else forms[1])
        if whole:
            joint = locale.signs["&"]
            said = f"{locale.counted(locale.cardinal(int(whole)), noun)} {joint} {said}"
            said = joined(said, forms[1]) if forms else said
        yield Classed(place, after, InWords("Fraction", said), 0.4 if not whole else 0.3)

    def _slashed(self, line: Tokens, place: int) -> tuple[int, int] | None:
        above, below = line.number(place, 1, 999, 3), line.number(place + 2, 2, 1000, 4)
        slash = line.has(place + 1, ("/", "⁄"), glued=True) and not line[place + 2].gap
        if above is None or below is None or not slash or line.has(place + 3, "/%", glued=True):
            return None
        if line[place].text[0] == "0" or line[place + 2].text[0] == "0" or not line.ends(place + 3):
            return None
        return above, below

    def _part(self, above: int, below: int, noun: str, after_whole: bool) -> str:
        locale = self._locale
        if (above, below) == (1, 2):
            return locale.half[locale.feminine(noun) is True] if noun or after_whole else locale.fractions["2"][0]
        forms = locale.fractions.get(str(below))
        if forms is None:
            said = locale.cardinal(below) + locale.nths
            if locale.numbers == "it":
                said = locale.ordinal(below, False)
            if locale.numbers == "fr":
                said = locale.ordinal(below, False)
            forms = (said, said)
        if not locale.numbers:
            return f"{locale.signs.get(str(above), above)} {forms[0]}" if above > 1 else forms[1]
        one = {"es": "un", "fr": "un", "it": "un", "pt_BR": "um"}[locale.numbers]
        if noun in ("partes", "parte") and locale.numbers in ("es", "pt_BR"):
            forms, one = (
                (re.sub("o$", "a", forms[0]), re.sub("os$", "as", forms[1])),
                one.replace("um", "uma").replace("un", "una"),
            )
        return f"{one} {forms[0]}" if above == 1 else f"{locale.cardinal(above)} {forms[1]}"
