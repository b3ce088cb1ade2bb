"""Sentence as tokens: runs of letters, runs of digits, and single signs. A glued run is cut ("12ft" is two tokens)."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from text.normalization.draft import GAP, MASK

_RAISED = "⁰¹²³⁴-⁹₀-₉½⅓⅔¼¾⅕-⅞⅑⅒ºª"
_MARKS = r"\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
"""Marks that belong to the letter before them; Hindi writes most vowels so."""
_LETTER = rf"[^\W\d_{MASK}{_RAISED}]"
_TOKEN = re.compile(
    rf"(?P<d>\d+)|(?P<m>[{MASK}{GAP}]+)|(?P<w>(?!Ø\d){_LETTER}++(?>(?:[{_MARKS}]++{_LETTER}*+)*))|(?P<s>(?<=\w)--(?=[\w$£€])|(?<=\d)''(?![^\W\d])|\S)"
)
TEXTS = re.compile(
    _TOKEN.pattern.replace("(?P<d>", "(?:").replace("(?P<m>", "(?:").replace("(?P<w>", "(?:").replace("(?P<s>", "(?:")
)
"""The same without the kinds, for who wants the texts of all tokens alone."""
_CURRENCY = frozenset("$£€¥₹₩₽₱฿₺₪₫₦₴")
_CLOSE = frozenset("_°%‰⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒ºª")
"""Signs that belong to what they are glued to."""
_CLOSING = frozenset("\"'”’)]")
VULGAR = frozenset("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒")
_INNER = frozenset(".,:/-^")
"""Signs that join two tokens to one item, if both are glued to them."""
_PREFIXES = frozenset(("mid", "pre", "post", "non", "ex", "early", "late", "sub"))
"""Words that a hyphen joins to an item: mid-1980s."""
_GLUING = frozenset(("c.", "ca.", "b.", "d."))
"""Words that may be glued to a year: c.1850-60. So may words with a capital and a colon: Height:30cm."""
SLASHED = frozenset(("c", "p", "s", "w"))
"""Words of which a slash is a part: c/20 min (cada), w/2 beds."""
_LATIN_AFTER = re.compile(r"[\u0904-\u0961][^\u0904-\u0961]")  # चंद्रयान-III
DASHES = frozenset((*"-–—‐‑−", "--"))
_SAME = {"–": "-", "‐": "-", "‑": "-", "−": "-"}
"""Signs that stand for another one in a token's fold."""
_LONGEST_SPAN = 9


class Lexeme(NamedTuple):
    """Run of letters ("w"), of digits ("d") or of characters that a rule has rewritten ("m"), or a sign ("s")."""

    kind: str
    text: str
    fold: str
    start: int
    end: int
    gap: bool
    """True if white space, what was left out or the sentence's beginning stands before it."""


_END = Lexeme("", "", "", 0, 0, True)
_AROUND = (_END,) * 64


class Tokens(list[Lexeme]):
    """Tokens of a sentence, with empty ones beyond its ends: a list counts places below 0 from its end."""

    def __init__(self, sentence: str) -> None:
        tokens: list[Lexeme] = []
        new, last = tuple.__new__, -1  # without the call that a named tuple's own makes
        for found in _TOKEN.finditer(sentence):
            text, (start, end) = found[0], found.span()
            if text == "''":
                text = "″"
            gap = start > last or text[0] == GAP
            fold = _SAME.get(text) or text.casefold()
            tokens.append(new(Lexeme, (found.lastgroup, text, fold, start, end, gap)))
            last = end if text[-1] != GAP else -1
        super().__init__([*tokens, *_AROUND])
        self.tokens = tokens
        self.numbers: dict[tuple[int, str, bool], Any] = {}
        """Numbers that the lexer of numbers has read, by their places and the signs that it was given."""

    def number(self, place: int, least: int, most: int, width: int = 9) -> int | None:
        """Value of a token of at most `width` digits; None if it isn't one or is out of bounds."""
        token = self[place]
        if token.kind != "d" or len(token.text) > width:
            return None
        value = int(token.text)
        return value if least <= value <= most else None

    def has(self, place: int, folds: Container[str], glued: bool = False) -> bool:
        token = self[place]
        return token.fold != "" and token.fold in folds and not (glued and token.gap)

    def dash(self, place: int) -> bool:
        """True for a dash with white space on both sides or on none; a long one has none."""
        token, gap = self[place], self[place + 1].gap
        return token.fold in DASHES and token.kind == "s" and token.gap == gap and not (gap and token.text == "—")

    def begins(self, place: int) -> bool:
        """True if an item can begin at a token: it isn't glued to a word, a number or a sign that joins."""
        token, before = self[place], self[place - 1]
        if token.gap:
            return True
        if place - 1 in self._between_spans:
            return True
        if before.text == "/" and (token.text in _CURRENCY or (self[place - 2].kind == "w" and token.kind == "d")):
            timed = self[place + 1].fold in ("am", "pm", "a", "p")  # 5pm EST/2pm PST
            timed |= self[place - 2].fold in ("oz", *SLASHED)
            return self[place - 3].kind == "d" or self[place - 3].text in _CLOSE or token.text in _CURRENCY or timed
        if token.text == "#" and before.kind == "w":
            return len(before.text) > 1  # MLS# 123, not C#
        if before.kind != "s" or before.text in _CURRENCY or before.text == "_":
            return False
        if before.text == "^" or (before.text in "-−" and self[place - 2].text == "^"):
            return False
        word = self[place - 2].text
        labelled = (before.text == ":" and word.istitle() and len(word) > 2) or word + before.text in _GLUING
        joined = before.text in _INNER and not (before.gap or labelled) and self[place - 2].kind in ("d", "w", "m")
        if joined and before.text == "/" and self[place - 3].text.isupper() and self[place - 2].kind == "d":
            return token.text.isupper() and self[place + 1].kind == "d" and not self[place - 2].gap  # L1/L5
        price = token.text in _CURRENCY and self[place - 2].fold in ("under", "over", "near")
        prefix = price or self[place - 2].fold in _PREFIXES or _LATIN_AFTER.match(self[place - 2].text[:1] + token.text)
        return not joined or (before.text == "-" and bool(prefix))

    def ends(self, place: int) -> bool:
        """True if an item can end before a token."""
        token, after = self[place], self[place + 1]
        if token.gap:
            return True
        if token.kind != "s" or token.text in _CLOSE:
            return False
        if place in self._between_spans:
            return True
        word = place - 1 - (self[place - 1].text == "." and token.text == "/")  # 8 oz./226g
        counted = self[word - 1].kind == "d" or self[word - 1].text in _CLOSE or self[word - 1].fold == "fl"
        if token.text == "/" and counted and self[word].kind == "w":
            return True
        return not (token.text in _INNER and not after.gap and after.kind in ("d", "m"))

    def last(self, place: int) -> bool:
        """True if only closing signs follow the token."""
        return place >= self._last_word

    def closing(self, place: int) -> bool:
        """True if only closing quotes and brackets follow the token."""
        return self.last(place) and all(token.text in _CLOSING for token in self.tokens[place + 1 :])

    @cached_property
    def lettered(self) -> Mapping[str, set[str]]:
        """Single capitals glued to numbers, by the number."""
        found: dict[str, set[str]] = {}
        for one, other in pairwise(self.tokens):
            if one.kind == "d" and not other.gap and len(other.text) == 1 and other.text.isupper():
                found.setdefault(one.text, set()).add(other.text)
        return found

    @cached_property
    def _between_spans(self) -> frozenset[int]:
        """Places of slashes between two spans of numbers: 9-13/15-19, 8h-12h30/14h-18h."""
        places = [place for place, token in enumerate(self.tokens) if token.text == "/" and not token.gap]
        return frozenset(place for place in places if self._span(place - 1, -1) and self._span(place + 1, 1))

    def _span(self, place: int, step: int) -> bool:
        """True if a dash stands between two numbers, perhaps with colons or h, that are glued from a place on."""
        kinds = ""
        for near in range(place, place + _LONGEST_SPAN * step, step):
            token = self[near]
            if token.kind == "d" or token.text == "-" or token.text == "–":
                kinds += token.kind
            elif token.text not in (":", "h"):
                break
            if (token if step < 0 else self[near + 1]).gap:
                break
        return "dsd" in kinds

    @cached_property
    def _last_word(self) -> int:
        return max((place for place, token in enumerate(self.tokens) if token.kind != "s"), default=-1)

    @cached_property
    def folds(self) -> frozenset[str]:
        """All tokens without their case."""
        return frozenset(token.fold for token in self.tokens)

    @cached_property
    def shouted(self) -> bool:
        """True if all words are in capitals."""
        return all(token.text.isupper() for token in self.tokens if token.kind == "w")

    @cached_property
    def small(self) -> bool:
        """True if no word has a capital."""
        return all(token.text.islower() for token in self.tokens if token.kind == "w")

    def short_days(self, days: Container[str], full: Container[str]) -> bool:
        """True for a span of weekdays' short names (Mon–Sat), beside which Sun is one too."""
        near = (place for place, token in enumerate(self.tokens) if token.fold in days and token.fold not in full)
        return any(self.dash(place + 1) and self.has(place + 2, days) for place in near)

    @cached_property
    def inches_at(self) -> frozenset[int]:
        """Places of double quotes after numbers that close no quotation: 27" monitor."""
        found: set[int] = set()
        if self.folds.isdisjoint('"″”'):
            return frozenset()
        quoted = curly = False
        for place, token in enumerate(self.tokens):
            if token.text == "“":
                curly = True
            elif token.text in ('"', "″", "”"):
                before = self[place - 1]
                number = not token.gap and (before.kind == "d" or before.text in VULGAR)
                if token.text == "″" or (number and not (curly if token.text == "”" else quoted)):
                    found.add(place)
                elif token.text == "”":
                    curly = False
                else:
                    quoted = not quoted
        return frozenset(found)

    def cued(self, place: int, cues: Container[str], reach: int = 4) -> bool:
        """True if one of the tokens before a place is a cue word."""
        return any(self[near].fold in cues for near in range(place - reach, place))
