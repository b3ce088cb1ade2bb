"""Numbers as they are written: grouped by points, spaces or apostrophes, decimals after a comma; or the English way."""

from __future__ import annotations

from typing import NamedTuple

from text.normalization.classes.tokens import Tokens
from text.normalization.western.words import Locale

_MINUS = "-−–"
_LONGEST = 15
_HALVES = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅛": (1, 8), "⅜": (3, 8)}


HALVES = frozenset(_HALVES)
SIGNS = frozenset("-−–+")
"""Signs with which a number begins."""


class Written(NamedTuple):
    whole: str
    fraction: str
    after: int
    """Place after it."""
    sign: str = ""
    grouped: bool = False
    point: bool = False
    """Its decimals stand after a point in a language that has a comma."""

    @property
    def plain(self) -> bool:
        return not (self.sign or self.grouped or self.fraction) and not (len(self.whole) > 1 and self.whole[0] == "0")

    @property
    def is_one(self) -> bool:
        return self.whole == "1" and not self.fraction.strip("0")


def glued(line: Tokens, place: int) -> bool:
    return line[place].kind == "d" and not line[place].gap


def written(line: Tokens, place: int, locale: Locale, english: bool = False) -> Written | None:
    """Number that begins at a place, with its sign; `english` if a comma before three digits groups them."""
    sign = ""
    if line[place].text and line[place].text in _MINUS + "+" and glued(line, place + 1):
        before = line[place - 1]
        if not line[place].gap and before.kind and before.text not in "([“\"«'=<>≤≥/:,":
            return None
        sign, place = ("+" if line[place].text == "+" else "−"), place + 1
    token = line[place]
    if token.kind != "d" or len(token.text) > _LONGEST:
        return None
    found = _grouped(line, place, locale, english)
    return found._replace(sign=sign)


def _groups(line: Tokens, place: int, sign: str, sizes: tuple[int, ...]) -> list[str]:
    """Groups of digits after a first one of at most three digits."""
    groups: list[str] = []
    first = line[place].text
    if len(first) > 3 or first[0] == "0":
        return groups
    after = place + 1
    while len(groups) < 6:
        if sign == " ":
            token, step = line[after], 1
            if not (token.gap and token.kind == "d"):
                break
        else:
            if not line.has(after, sign, glued=True) or not glued(line, after + 1):
                break
            token, step = line[after + 1], 2
        if len(token.text) not in sizes:
            break
        groups.append(token.text)
        after += step
    return groups


def _grouped(line: Tokens, place: int, locale: Locale, english: bool) -> Written:
    first = line[place].text
    mark = line[place + 1].text if not line[place + 1].gap else ""
    comma = locale.decimal == ","
    if mark in ("'", "’", " ", ".", ",") and mark:
        groups = _groups(line, place, mark, (3,) if comma else (2, 3))
        if groups and len(groups[-1]) != 3:
            groups = []
        after = place + 1 + 2 * len(groups)
        other = {".": ",", ",": "."}.get(mark, locale.decimal)
        tail = line[after + 1].text if groups and line.has(after, other, glued=True) and glued(line, after + 1) else ""
        as_groups = mark != locale.decimal or len(groups) > 1 or tail or english
        if groups and as_groups and "".join(groups):
            whole = first + "".join(groups)
            return Written(whole, tail, after + 2 * bool(tail), "", True, comma and mark == "," and bool(tail))
        if mark in ".," and glued(line, place + 2) and not (mark == "," and not comma):
            more = line[place + 3].text == mark and not line[place + 3].gap and glued(line, place + 4)
            if not more:
                return Written(first, line[place + 2].text, place + 3, "", False, comma and mark == ".")
    elif line[place + 1].gap and comma and line[place - 1].kind != "d":
        groups = _groups(line, place, " ", (3,))
        after = place + 1 + len(groups)
        if groups and line[after].kind != "d":
            tail = line[after + 1].text if line.has(after, ",", glued=True) and glued(line, after + 1) else ""
            return Written(first + "".join(groups), tail, after + 2 * bool(tail), "", True)
    return Written(first, "", place + 1)


def spoken(locale: Locale, number: Written, noun: str = "") -> str:
    """Number in words, which agree with the noun after it."""
    said = locale.number(number.whole, number.fraction, locale.signs["."] if number.point else "")
    if not number.fraction:
        said = locale.counted(said, noun)
    if not number.sign:
        return said
    sign = locale.signs["−"] if number.sign == "−" else locale.signs.get("plus", locale.signs["+"])
    return f"{sign} {said}"


def joined(said: str, noun: str) -> str:
    """A number and its noun: un'ora."""
    return said + noun if said.endswith("'") else f"{said} {noun}"


def noun_after(line: Tokens, place: int) -> str:
    token = line[place]
    name = token.text[:1].isupper() and not line.shouted
    return token.text if token.kind == "w" and token.gap and not name else ""


def vulgar(line: Tokens, place: int) -> tuple[int, int] | None:
    return _HALVES.get(line[place].text)


def plural(locale: Locale, number: Written) -> bool:
    """True if the noun after a number is in the plural; 1,5 is singular in French and Portuguese."""
    if locale.numbers in ("fr", "pt_BR"):
        return number.whole not in ("0", "1")
    return not number.is_one
