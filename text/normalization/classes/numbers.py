"""Numbers in digits, of every language: grouped by signs or spaces, with decimals or without."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from text.normalization.classes.tokens import VULGAR, Tokens

_ENGLISH, _ANY = frozenset(",'’_ "), frozenset(".,'’_ ")
"""Signs between groups in English, where points make an address or a version, and in other languages."""
_MINUS = frozenset("-−")
_SIGNS = {"-": "−", "−": "−", "–": "−", "+": "+"}
SIGNS = frozenset(_SIGNS)
"""Signs with which a number begins."""
_AFTER_DIGITS = frozenset("\"'”’″′?")
"""Signs after a number that a hyphen joins to the next one: 1/4"-20, 1731?-1791."""
_BEFORE_SIGNS = frozenset("([“\"«'=<>≤≥/:,")
"""Signs to which a number's sign may be glued."""
_TIMES = frozenset("x×·⋅")
SLASHES = frozenset("/⁄")
_RAISED, _LOWERED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁻"), str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_GROUPS = 6
"""Most groups of a number after its first digits."""
LONGEST = 15
"""Digits of the longest number that is said as a number."""


class Written(NamedTuple):
    """Number as it is written, ungrouped."""

    whole: str
    """Empty for a number that begins with its point: .5."""
    fraction: str = ""
    after: int = 0
    """Place after it."""
    sign: str = ""
    grouped: bool = False
    point: bool = False
    """Its decimals stand after a point in a language that has a comma."""
    exponent: str = ""
    """Of the power of ten that it is multiplied by: 3×10⁸."""

    @property
    def plain(self) -> bool:
        return not (self.sign or self.grouped or self.fraction or self.exponent) and not (
            len(self.whole) > 1 and self.whole[0] == "0"
        )

    @classmethod
    def of(cls, number: str, minus: bool = False, grouped: bool = False, after: int = 0) -> Written:
        """Number of digits and a point."""
        whole, _, fraction = number.partition(".")
        return cls(whole, fraction, after, "−" * minus, grouped)

    @property
    def number(self) -> str:
        """Digits and point: 1250.75, .5."""
        return self.whole + f".{self.fraction}" * bool(self.fraction)

    @property
    def minus(self) -> bool:
        return self.sign == "−"

    @property
    def is_one(self) -> bool:
        return self.whole in ("1", "१") and not (self.fraction.strip("0") or self.exponent)


def glued(line: Tokens, place: int) -> bool:
    return line[place].kind == "d" and not line[place].gap


def written(line: Tokens, place: int, decimal: str, english: bool = False) -> Written | None:
    """Number that begins at a place, at its sign or first digit; read once for all classes that ask. `decimal` is the
    sign before decimals; if `english`, a comma before three digits groups them, whatever the language has.
    """
    key = (place, decimal, english)
    if key not in line.numbers:
        line.numbers[key] = _signed(line, place, decimal, english)
    return line.numbers[key]  # type: ignore[no-any-return]


def _signed(line: Tokens, place: int, decimal: str, english: bool) -> Written | None:
    sign = _SIGNS.get(line[place].text, "")
    if sign and glued(line, place + 1):
        before = line[place - 1]
        if not line[place].gap and before.kind and before.text not in _BEFORE_SIGNS:
            return None
        place += 1
    if line[place].kind != "d" or len(line[place].text) > LONGEST:
        return None
    number = _unsigned(line, place, decimal, _ANY, english)
    exponent, after = _exponent(line, number.after)
    return number._replace(sign=sign, exponent=exponent, after=after)


def _exponent(line: Tokens, place: int) -> tuple[str, int]:
    """Exponent after a number and "×10", and the place after it; ("", place) if there is none."""
    if line[place].text not in _TIMES or line[place + 1].text != "10":
        return "", place
    exponent, after, caret = "", place + 2, line.has(place + 2, "^", glued=True)
    after += caret
    while not line[after].gap and (line[after].text in _RAISED or (caret and line[after].kind == "d")):
        exponent += line[after].text.translate(_LOWERED)
        after += 1
    minus = line.has(place + 3, _MINUS, glued=True) and caret
    if minus and glued(line, place + 4):
        return f"-{line[place + 4].text}", place + 5
    return (exponent, after) if exponent.removeprefix("-").isdigit() and len(exponent) < 5 else ("", place)


def _unsigned(line: Tokens, place: int, decimal: str, signs: frozenset[str], english: bool = False) -> Written:
    first, comma = line[place].text, decimal == ","
    mark = " " if line[place + 1].gap else line[place + 1].text
    groups = _groups(line, place, mark, signs, comma) if mark in signs else []
    after = place + 1 + len(groups) * (1 if mark == " " else 2)
    other = {".": ",", ",": "."}.get(mark, decimal)
    tail = line[after + 1].text if groups and line.has(after, other, glued=True) and glued(line, after + 1) else ""
    if groups and (mark != decimal or len(groups) > 1 or tail or (english and mark == ",")):
        point = comma and mark == "," and bool(tail)
        return Written(first + "".join(groups), tail, after + 2 * bool(tail), grouped=True, point=point)
    chained = line.has(place + 3, mark, glued=True) and glued(line, place + 4)  # 1.2.3
    if mark in (decimal, ".") and glued(line, place + 2) and not chained:
        return Written(first, line[place + 2].text, place + 3, point=comma and mark == ".")
    return Written(first, "", place + 1)


def _groups(line: Tokens, place: int, mark: str, signs: frozenset[str], comma: bool) -> list[str]:
    """Groups of three digits after the first one, or of two and at last three (₹1,25,00,000)."""
    first, groups = line[place].text, list[str]()
    spaced = mark == " "
    at = place + 2 - spaced
    while len(groups) < _GROUPS and line[at].kind == "d" and line[at].gap == spaced:
        if not (spaced or line.has(at - 1, mark, glued=True)):
            break
        groups.append(line[at].text)
        at += 2 - spaced
    if len(first) > 3 or (first[0] == "0" and signs is _ANY) or not groups or len(groups[-1]) != 3:
        return []
    if spaced and (line[place - 1].kind == "d" or not (comma or len(groups) > 1 or groups == ["000"])):
        return []
    indian = mark == "," and not comma and len(groups) > 1 and len(first) < 3
    thousands = all(len(group) == 3 for group in groups)
    return groups if thousands or (indian and all(len(group) == 2 for group in groups[:-1])) else []


def english_number(line: Tokens, place: int) -> Written | None:
    """English number that begins at a place, with a minus sign."""
    minus, start = signed(line, place)
    number, after = written_number(line, start)
    if not number or (minus and not line[place].gap and line[place - 1].kind == "m"):
        return None
    return Written.of(number, minus, line[start].text not in (number, number.partition(".")[0], ""), after)


def written_number(line: Tokens, place: int) -> tuple[str, int]:
    """Digits and point of the English number that begins at a token, or "", and the place after it."""
    key = (place, "", True)
    if key not in line.numbers:
        line.numbers[key] = _english(line, place)
    return line.numbers[key]  # type: ignore[no-any-return]


def _english(line: Tokens, place: int) -> tuple[str, int]:
    token = line[place]
    if token.kind == "d" and len(token.text) <= LONGEST:
        number = _unsigned(line, place, ".", _ENGLISH)
        return number.whole + f".{number.fraction}" * bool(number.fraction), number.after
    if token.text == "." and glued(line, place + 1) and (token.gap or line[place - 1].text != "."):
        return f".{line[place + 1].text}", place + 2
    return "", place


def signed(line: Tokens, place: int) -> tuple[bool, int]:
    """Whether a minus sign stands before a number at a place, and the place of the number."""
    before = line[place - 1].text
    joined = not line[place].gap and (before == ")" or (before in _AFTER_DIGITS and line[place - 2].kind == "d"))
    dashed = line[place].text == "–" and (before == "(" or (line[place].gap and line[place - 1].kind == "w"))
    dashed = dashed and not line.number(place + 1, 1100, 2099)  # profit –£2m, (–4 pts), not –2020
    if (line[place].text in _MINUS or dashed) and not line[place + 1].gap and not joined:
        return True, place + 1
    return False, place


def fraction_at(line: Tokens, place: int) -> tuple[int, int, int]:
    """Numerator and denominator of a fraction (½, 3/4), and the place after it; a denominator of 0 if there is none."""
    token, slash, second = line[place], line[place + 1], line[place + 2]
    if token.text in VULGAR:
        above, _, below = unicodedata.normalize("NFKC", token.text).partition("⁄")
        return int(above), int(below), place + 1
    joined = slash.text == "⁄" or (slash.text == "/" and not (slash.gap or second.gap))
    code = any(len(each.text) > 2 and each.text[0] == "0" for each in (token, second))  # INV 2024/0087, T 0821/13
    below, after = written_number(line, place + 2) if token.text == "1" else (second.text, place + 3)  # 1/1,000
    if token.kind == second.kind == "d" and joined and not code and max(len(token.text) + 1, len(below)) < 6:
        return (int(token.text), int(below), after) if below.isdecimal() else (0, 0, place)
    return 0, 0, place
