"""Parser of Roman numerals after names, titles and headings: Henry VIII, CHAPTER IV, parts II and III."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed
from text.normalization.classes.tokens import Lexeme, Tokens
from text.normalization.number_words import roman_value

_COST = 0.4
_NUMERAL = re.compile(r"(?=[ivxl])(xl|l?x{0,3})(ix|iv|v?i{0,3})(?P<ending>th|st|nd|rd)?")
_TENS = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_PLAIN = frozenset(f"{tens}{ones}" for tens in _TENS for ones in _ONES) - {""}
_ENDINGS = ("", "th", "st", "nd", "rd")
LONG = frozenset(f"{numeral}{ending}" for numeral in _PLAIN if len(numeral) > 1 for ending in _ENDINGS)
LETTERS = frozenset("ivxl")
"""RomanNumerals that are words or names of letters as well."""
_ENDING = frozenset(("", ".", ",", ";", ":", "!", "?", ")", "'", "’", "-", "–", "—"))


@dataclass(frozen=True, slots=True)
class Numeral:
    value: int
    kind: str
    """"count" (chapter four), "nth" (Henry the eighth) or "ordinal" (the nineteenth century)."""
    last: int = 0
    joint: str = ""
    letter: str = ""
    before: str = ""
    """Words before it that are said otherwise than written: pages."""


class RomanNumerals:
    """Parser for one language's tables (`references.toml`)."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._words = {name: word_list(table[name].casefold()) for name in table}
        self.words = LONG | LETTERS | {"p", "pp"}
        self.cues = self._words["rulers"] | self._words["numeral_parts"] | self._words["small_numerals"]
        self.cues |= {f"{cue}s" for cue in self.cues} | {"p", "pp", "century", "centuries"}

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.fold in ("p", "pp"):
            yield from self._pages(line, place)
            return
        if token.fold[0] not in LETTERS or (found := _NUMERAL.fullmatch(token.fold)) is None:
            return
        small = token.text.islower()
        written = token.text.removesuffix(found["ending"] or "")
        if not (small or written.isupper() or line.shouted or token.text.istitle()):
            return
        value = roman_value(token.text.upper().removesuffix((found["ending"] or "").upper()))
        after = place + 1
        century = after + (line[after].text == "-")
        if line.has(century, ("century", "centuries")) and (len(token.text) > 1 or token.text.isupper()):
            yield Classed(place, after, Numeral(value, "ordinal"), _COST)
        elif not found["ending"] and token.gap:
            yield from self._counted(line, place, value, small)
            yield from self._ruler(line, place, value)

    def _counted(self, line: Tokens, place: int, value: int, small: bool) -> Iterator[Classed]:
        """Numeral after a part's name, or after any capitalised word if it has several letters."""
        token, stopped = line[place], line[place - 1].text == "." and not line[place - 1].gap
        cue = line[place - 1 - stopped].fold
        cue = cue if cue in self._words["numeral_parts"] else cue.removesuffix("s")
        named = cue in self._words["small_numerals" if small and len(token.text) < 2 else "numeral_parts"]
        named = named or ((small or line.shouted) and cue in self._words["small_numerals"])
        if small and token.fold == "i" and line[place + 1].text not in _ENDING:
            named = False
        if token.fold == "x" and cue in self._words["unknown"]:
            return
        before = line[place - 1].text
        capital = len(before) > 2 and before.istitle() and token.text.isupper() and len(token.text) > 1
        if not named and not (capital and value < 40 and not line.shouted and cue not in self._words["rulers"]):
            return
        after = place + 1
        if named and line[after].text in (".", "-") and not line[after].gap and not line[after + 1].gap:
            letter = line[after + 1]
            if letter.kind == "w" and len(letter.text) == 1 and letter.fold not in LETTERS:
                yield Classed(place, after + 2, Numeral(value, "count", letter=letter.text.upper()), _COST - 0.1)
        joint = "to" if line.dash(after) else line[after].fold
        if named and joint in ("to", "and") and self._is_numeral(line[after + 1], small):
            last = roman_value(line[after + 1].text.upper())
            yield Classed(place, after + 2, Numeral(value, "count", last, joint), _COST)
        yield Classed(place, after, Numeral(value, "count"), _COST)

    def _is_numeral(self, token: Lexeme, small: bool) -> bool:
        return token.fold in _PLAIN and (token.text.islower() if small else not token.text.islower())

    def _ruler(self, line: Tokens, place: int, value: int) -> Iterator[Classed]:
        token, after = line[place], line[place + 1]
        if after.gap and len(after.text) == 1 and after.text.isupper() and line[place + 2].text == ".":
            return
        rulers = self._words["rulers"]
        direct = line[place - 1].fold in rulers
        further = self._named_before(line, place, rulers, 2) or (
            value in (2, 3, 4) and self._named_before(line, place, self._words["first_names"], 2)
        )
        if not direct and (not further or not token.text.isupper() or (line.shouted and value < 2)):
            return
        first = after.text in _ENDING or after.fold in self._words["after_first"]
        if token.fold == "i" and (not direct or not first or token.text.islower()):
            return
        if token.text.islower() and len(token.text) < 2:
            return
        yield Classed(place, place + 1, Numeral(value, "nth"), _COST - 0.1)

    def _named_before(self, line: Tokens, place: int, names: frozenset[str], reach: int) -> bool:
        """True if one of the names stands before one or two capitalised words before a place."""
        for back in range(1, reach + 1):
            if not line[place - back].text[:1].isupper():
                return False
            if line[place - back - 1].fold in names and line[place - back - 1].text[:1].isupper():
                return True
        return False

    def _pages(self, line: Tokens, place: int) -> Iterator[Classed]:
        if not line.has(place + 1, ".", glued=True) or not self._is_numeral(line[place + 2], small=True):
            return
        name = "pages" if line[place].fold == "pp" else "page"
        first, last, after = roman_value(line[place + 2].text.upper()), 0, place + 3
        if line.dash(after) and self._is_numeral(line[after + 1], small=True):
            last, after = roman_value(line[after + 1].text.upper()), after + 2
        yield Classed(place, after, Numeral(first, "count", last, "to", before=f"{name} "), _COST)
