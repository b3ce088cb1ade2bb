"""Sentence under normalisation: characters that one rule has rewritten are hidden from later rules.

The patterns that rules share are here too: all repetitions are bounded or possessive, so matching takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from text.normalization.settings import RULES
from text.words.language import EAST_ASIAN


class Replacement(NamedTuple):
    start: int
    end: int
    said: str
    verbatim: bool = False

    @classmethod
    def kept(cls, original: str, start: int, end: int) -> Replacement:
        """A span that stays as it is; its characters know their own places."""
        return cls(start, end, original[start:end], verbatim=True)


class Rewritten:
    """Text composed of pieces, whose spans must rise."""

    def __init__(self, pieces: Iterable[Replacement]) -> None:
        self._pieces = [piece for piece in pieces if piece.said]
        self._starts: list[int] = []
        length = 0
        for piece in self._pieces:
            self._starts.append(length)
            length += len(piece.said)
        self.verbatim = len(self._pieces) == 1 and self._pieces[0].verbatim and self._pieces[0].start == 0
        """True if the text is the original's beginning, unchanged."""
        self.text = "".join(piece.said for piece in self._pieces)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Span of the original that a span of the new text (not empty) stands for."""
        if self.verbatim:
            return start, end
        first = bisect_right(self._starts, start) - 1
        piece, begin = self._pieces[first], self._starts[first]
        origin = piece.start + start - begin if piece.verbatim else piece.start
        if end - begin > len(piece.said):
            last = bisect_right(self._starts, end - 1) - 1
            piece, begin = self._pieces[last], self._starts[last]
        return origin, piece.start + end - begin if piece.verbatim else piece.end


MASK = "\ufdd0"
"""Placeholder for each character that a rule has rewritten: a noncharacter, which sanitised text never contains."""

GAP = "\ufdd2"
"""Placeholder for each character that a rule has left out: words may begin and end beside it."""

START = rf"(?<![\w{MASK}])"
"""Position at which a word can begin."""

END = rf"(?![\w{MASK}])"
"""Position at which a word can end."""

NUMBER_START = rf"(?<![\w{MASK}$£€¥₹])(?<!\d[.,:/-])(?<![^\W\d][-/])(?<!\^)(?<!\^[-−])(?<![^\s(\[\"“‘'—]\.)"
"""Position at which a number can begin: outside addresses, versions, exponents, model names (F-16), other numbers."""

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,2}(?:,\d{2}){1,5},\d{3}(?!\d)|\d{1,3}(?:['’]\d{3}){1,4}(?!\d)|\d{1,15})"
    r"(?:\.\d{1,15})?"
)
"""Cardinal or decimal, grouped by commas in thousands, as in India (2,50,000), in Switzerland (1'950), or ungrouped."""


_HIDDEN = frozenset((MASK, GAP))
_OPENING = frozenset(" \n\t([{“‘\"'«¿¡")


class Edit(NamedTuple):
    start: int
    end: int
    spoken: str


_ALL = frozenset(RULES)


class Draft:
    """Collects edits, whose positions refer to the sentence as written, so no character is rewritten twice."""

    def __init__(self, sentence: str, language: str, on: frozenset[str] = _ALL) -> None:
        self.sentence = sentence
        self.on = on
        """Names of the rules that are on, for the rule that reads several classes."""
        self.text = sentence
        """Sentence with `MASK` or `GAP` in place of each character that a rule has rewritten: positions stay."""
        self.british, self.language = language == "en-gb", language.partition("-")[0]
        self.english = self.language == "en"
        self._spaced = language not in EAST_ASIAN
        self.characters = frozenset(sentence)
        self._edits: list[Edit] = []

    def has(self, characters: Iterable[str]) -> bool:
        """True if the sentence has one of the characters: a quick question before a search."""
        return not self.characters.isdisjoint(characters)

    def replace(
        self, pattern: re.Pattern[str], spoken: Callable[[re.Match[str]], str | None], signs: Iterable[str] = ""
    ) -> None:
        """Replace all matches; one for which `spoken` returns None, or that an earlier rule has a part of, stays. Where
        the pattern matches, the sentence has one of the `signs`, if any.
        """
        if signs and not self.has(signs):
            return
        free = (match for match in pattern.finditer(self.text) if _HIDDEN.isdisjoint(match[0]))
        found = ((*match.span(), spoken(match)) for match in free)
        self.put([Edit(start, stop, said) for start, stop, said in found if said is not None and start < stop])

    def put(self, spans: Iterable[Edit]) -> None:
        """Replace spans, which must rise and which no rule may have rewritten. White space at their edges stays, so
        that a word before it ends there (5 km 🎉); a word may begin after a span that is left out: 👉www.example.org.
        """
        pieces: list[str] = []
        end = 0
        for edit in spans:
            self._edits.append(edit)
            written = self.text[edit.start : edit.end]
            inner = written.strip()
            mask = MASK if edit.spoken else GAP
            hidden = written.replace(inner, mask * len(inner)) if inner else mask * len(written)
            pieces += self.text[end : edit.start], hidden
            end = edit.end
        if pieces:
            self.text = "".join([*pieces, self.text[end:]])

    def keep(self, pattern: re.Pattern[str]) -> None:
        """Hide all matches from later rules, unchanged."""
        self.replace(pattern, lambda match: self.sentence[match.start() : match.end()])

    def hide(self, spans: Iterable[tuple[int, int]]) -> None:
        """Hide spans from all rules, unchanged. The spans must rise, and no rule may have been applied yet."""
        self.put(Edit(start, stop, self.sentence[start:stop]) for start, stop in spans)

    @property
    def changed(self) -> bool:
        """True if a rule has rewritten or hidden something."""
        return bool(self._edits)

    def rewritten(self) -> Rewritten:
        """Text that is spoken. A space separates an edit from the words beside it (12°3kg)."""
        pieces: list[Replacement] = []
        end = 0
        for edit in sorted(self._edits):
            pieces.append(Replacement.kept(self.sentence, end, edit.start))
            written = self.sentence[edit.start : edit.end]
            start = edit.start + len(written) - len(written.lstrip())
            pieces.append(Replacement(start, max(start, edit.start + len(written.rstrip())), edit.spoken))
            end = edit.end
        pieces.append(Replacement.kept(self.sentence, end, len(self.sentence)))
        return Rewritten(self._parted(piece for piece in pieces if piece.said))

    def _parted(self, pieces: Iterable[Replacement]) -> Iterator[Replacement]:
        last, end, last_kept = " ", 0, True
        for piece in pieces:
            kept = piece.said == self.sentence[piece.start : piece.end]
            if last == "." and not last_kept and piece.start == end and re.match(r"\.(?!\.)", piece.said):
                piece = Replacement(piece.start + 1, piece.end, piece.said[1:])  # opens at 7a., not seven a.m..
                if not piece.said:
                    continue
            omitted = self.text[end : piece.start].endswith(GAP) and last not in _OPENING
            apart = last.isalnum() and not (kept and last_kept and piece.start == end)
            if self._spaced and (apart or omitted) and piece.said[0].isalnum():
                yield Replacement(piece.start, piece.start, " ")
            yield piece
            last, end, last_kept = piece.said[-1], piece.end, kept


class Rule(NamedTuple):
    name: str
    """Its name in `text.normalization.settings`."""
    rewrite: Callable[[Draft], None]
    needed: re.Pattern[str]
    """Pattern without which a sentence has nothing for the rule."""
