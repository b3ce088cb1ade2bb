"""Parser of telephone numbers and others in groups of digits: +44 20 7946 0958, (555) 123-4567, 1-800-FLOWERS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from text.locales.tables import WordLists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.tokens import Tokens

_COST = 0.3
_SIGNS = frozenset("-.–‑")
_MOST_GROUPS = 7
_BEFORE_ENDS = frozenset(("in", "with", "ending", "ends", "acct", "account", "card", "visa", "mastercard", "amex"))
_REACH = 5
"""Tokens before a number among which a word announces it."""


class Identifier(NamedTuple):
    """Groups of digits and letters that are said one by one, and the word before them."""

    name: str
    groups: tuple[str, ...]
    plus: bool = False
    ohs: bool = False
    """Zeros are said as the letter."""
    joint: str = ", "
    called: bool = False
    """A telephone number, whose groups a language may cut, or say in pairs."""


class Vanity(NamedTuple):
    """Free number in words: 1-800-FLOWERS."""

    one: bool
    code: str
    words: tuple[str, ...]


_LENGTHS: dict[str, set[tuple[int, ...]]] = {
    "-": {(3, 3, 4), (1, 3, 3, 4), (3, 4), (3, 3, 4, 4), (3, 3, 4, 1), (3, 2, 4), (4, 4, 4, 4), (5, 4), (3, 3, 3, 4)},
    ".": {(3, 3, 4), (1, 3, 3, 4), (3, 3, 3, 4)},
    " ": {(1, 3, 3, 4), (3, 3, 3, 4), (4, 4, 4, 4)},
    "": set(),
}
"""Numbers of digits in groups, by the sign between them."""


class Telephones:
    """Parser for one language's cue words (`calls` before numbers; `urgent`, `emergency`, `free_codes`, `counted`) and
    `forms`, shapes of numbers with hyphens between groups; English has `_LENGTHS`, and more kinds.
    """

    def __init__(self, cues: WordLists, forms: str = "") -> None:
        self._calls, self._urgent, self._counted = cues["calls"], cues["urgent"], cues["counted"]
        self._free, self._emergency = cues["free_codes"], cues["emergency"]
        self._forms = re.compile("|".join(f"(?:{form})" for form in forms.split()))
        self._shaped = bool(forms)
        self._signs = _SIGNS | {"/"} if forms else _SIGNS
        self.parser = Parser(frozenset(("+", "(") if forms else ("+", "(", "ext", "extension", "x")), self.parse)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        if self._shaped:
            yield from self._in_shape(line, place)
        else:
            yield from self._in_groups(line, place)

    def _in_shape(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Number in one of the language's forms, after a word that announces it, or with its country."""
        plus = line[place].text == "+"
        groups, _, after, _ = self._groups(line, place + plus)
        total = sum(map(len, groups))
        if not 7 <= total <= 15 or line[place + plus].gap > (not plus) or line.has(after, "€$", glued=True):
            return
        written = "".join(" " * token.gap + token.text for token in line.tokens[place:after]).strip()
        before = [line[near] for near in range(place - 1, place - 1 - _REACH, -1)]
        near = takewhile(lambda token: token.kind != "d", before)
        shaped = (plus and total >= 8) or self._forms.fullmatch(re.sub(r"[ .\-/]+", "-", written))
        if shaped or any(token.fold in self._calls for token in near):
            yield Classed(place, after, Identifier("", tuple(groups), plus, called=True), 0.1)

    def _in_groups(self, line: Tokens, place: int) -> Iterator[Classed]:
        token = line[place]
        if token.kind == "w":
            yield from self._extension(line, place)
            return
        yield from self._vanity(line, place)
        yield from self._short(line, place)
        plus = token.text == "+"
        groups, signs, after, bracket = self._groups(line, place + plus)
        lengths = tuple(map(len, groups))
        if not groups or (plus and line[place + 1].gap):
            return
        total = sum(lengths)
        if plus:
            good = (len(groups) > 2 and 7 <= total <= 15) or (11 <= total <= 15 and len(groups) < 3)
        elif bracket:
            good = lengths[-2:] in ((3, 4), (4, 4), (3, 3), (4, 3)) and total <= 14 and len(groups) in (3, 4)
            good = good or (groups[0][0] == "0" and total in (10, 11))  # (01892) 554413
        elif len(groups) == 1:
            good = total in (10, 11) and line.cued(place, self._calls)
            groups = [groups[0][:-7], groups[0][-7:-4], groups[0][-4:]] if good else groups
        else:
            country = groups[0] in ("1", "001") and len(signs) > 2
            kinds = set(signs[country:])
            good = len(kinds) == 1 and lengths in _LENGTHS[signs[-1] if signs[-1] in _LENGTHS else "-"]
            good = good or (lengths in ((3, 3, 4), (3, 4)) and kinds <= {" ", "."} and line.cued(place, self._calls))
            good = good or (token.text[0] == "0" and kinds == {" "} and 3 <= lengths[0] <= 5 and 9 <= total <= 11)
            fours = lengths[:-1] == (4,) * (len(groups) - 1) and len(groups) > 3 and kinds == {" "}
            good = good or (fours and lengths[-1] < 5 and any(group[0] == "0" for group in groups))  # 9400 1000 0000 00
            good = good and (lengths != (3, 4) or int(groups[0]) % 50 > 0 or int(groups[1]) % 50 > 0)
        if good:
            yield Classed(place, after, Identifier("", tuple(groups), plus), _COST)

    def _groups(self, line: Tokens, place: int) -> tuple[list[str], list[str], int, bool]:
        """Groups of digits, signs between them, the place after them, and whether one is in brackets."""
        groups: list[str] = []
        signs: list[str] = []
        bracket = False
        after = end = place
        sign = ""
        while len(groups) < _MOST_GROUPS:
            opened = line[after].text == "(" and len(groups) < 2
            if opened and line[after + 1].kind == "d" and line.has(after + 2, ")", glued=True):
                bracket = True
                if line[after + 1].text != "0" or self._shaped:
                    groups.append(line[after + 1].text)
                after = end = after + 3
                sign = ""
            elif line[after].kind == "d" and len(line[after].text) < 16:
                groups.append(line[after].text)
                after = end = after + 1
                signs += [sign] if sign else []
            else:
                break
            if line[after].text in self._signs and not line[after].gap and not line[after + 1].gap:
                sign = "" if line[after - 1].text == ")" else line[after].text
                after += 1
            else:
                sign = " " if line[after].gap and line[after - 1].text != ")" else ""
        return groups, signs, end, bracket

    def _extension(self, line: Tokens, place: int) -> Iterator[Classed]:
        after = place + 1 + line.has(place + 1, ".", glued=True)
        number = line[after]
        file_system = line[place].fold == "ext" and not number.gap and len(number.text) == 1 and after == place + 1
        if number.kind != "d" or len(number.text) > 6 or (line[place].fold == "x" and number.gap) or file_system:
            return
        before, joined = line[place - 1], line.has(place - 2, ".-", glued=True)
        phone = len(before.text) == 4 and before.kind == "d" and joined
        called = phone or (len(number.text) > 2 and line[place].text == "x")
        opened = line[place].gap or (line[place - 1].text == "(" and line.has(after + 1, ")"))
        ended = line.has(place - 1, _BEFORE_ENDS)  # a card ending in x4417
        if called and ended:
            yield Classed(place, after + 1, Identifier("", (number.text,)), _COST)
        if line[place].fold == "x" and (not called or not opened or ended):
            return
        yield Classed(place, after + 1, Identifier("extension", (number.text,)), _COST - 0.1)

    def _short(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Emergency numbers, and numbers of three digits after "call"."""
        code, after = line[place].text, place + 1
        if code == "9" and [token.text for token in line.tokens[place : place + 5]] == ["9", "-", "1", "-", "1"]:
            code, after = "911", place + 5
        if len(code) != 3 or line[place].kind != "d" or line[after].fold == "%":
            return
        called = line[place - 1].fold in self._calls
        counted = line[after].gap and (line[after].fold in self._counted or line[after].fold.endswith("s"))
        if code in self._emergency and not counted and not line.folds.isdisjoint(self._urgent):
            joint = line[after].fold.replace("/", "or")
            if joint in ("or", "and") and len(line[after + 1].text) == 3 and line[after + 1].kind == "d":
                groups = (code, line[after + 1].text)
                yield Classed(place, after + 2, Identifier("", groups, joint=f" {joint} "), _COST)
            yield Classed(place, after, Identifier("", (code,)), _COST)
        elif called and not counted:
            yield Classed(place, after, Identifier("", (code,)), _COST)

    def _vanity(self, line: Tokens, place: int) -> Iterator[Classed]:
        start = place
        one = line[start].text == "1" and (line[start + 1].text in ("-", ".") or line[start + 1].gap)
        if one:
            start += 1 + (line[start + 1].text in ("-", "."))
        bracket = line[start].text == "("
        start += bracket
        code, after = line[start].text, start + 1 + bracket
        if code.removeprefix("0") not in self._free or (bracket and line[after - 1].text != ")"):
            return
        sign = line[after].text in ("-", ".") and not line[after].gap
        after += sign
        if not sign and not (one and line[after].gap):
            return
        words: list[str] = []
        end = after
        while line[after].kind in ("w", "d") and len(words) < 12 and (not line[after].gap or not words):
            words.append(line[after].text)
            after = end = after + 1
            if line[after].text == "-" and not line[after].gap and not line[after + 1].gap:
                after += 1
        letters = [word for word in words if word.isalpha()]
        sure = all(word.isupper() for word in letters) or (one and sign)
        if any(len(word) > 1 for word in letters) and sure:
            yield Classed(place, end, Vanity(one, code, tuple(words)), _COST - 0.1)
