"""Sentence under normalisation: characters that one rule has rewritten are hidden from later rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from frontend.text.normalization.patterns import MASK
from frontend.text.normalization.rewritten import Piece, Rewritten


class Edit(NamedTuple):
    """Stretch of the sentence and its replacement."""

    start: int
    end: int
    spoken: str


class Draft:
    """Collects edits, whose positions refer to the sentence as written, so no character is rewritten twice."""

    def __init__(self, sentence: str, language: str) -> None:
        self.sentence = sentence
        self.text = sentence
        """Sentence with `MASK` in place of each character that a rule has rewritten, so that positions stay."""
        self.british = language == "en-gb"
        self._edits: list[Edit] = []

    def replace(
        self, pattern: re.Pattern[str], spoken: Callable[[re.Match[str]], str | None], group: str | int = 0
    ) -> None:
        """Replace all matches; a match for which `spoken` returns None stays for later rules.

        Args:
            group: the group of the match that is replaced; the rest is context.
        """
        pieces: list[str] = []
        end = 0
        for match in pattern.finditer(self.text):
            said = spoken(match)
            start, stop = match.span(group)
            if said is None or start == stop:
                continue
            self._edits.append(Edit(start, stop, said))
            pieces += self.text[end:start], MASK * (stop - start)
            end = stop
        if pieces:
            self.text = "".join([*pieces, self.text[end:]])

    def keep(self, pattern: re.Pattern[str]) -> None:
        """Hide all matches from later rules, unchanged."""
        self.replace(pattern, lambda match: self.sentence[match.start() : match.end()])

    def hide(self, spans: Iterable[tuple[int, int]]) -> None:
        """Hide spans from all rules, unchanged. The spans must rise, and no rule may have been applied yet."""
        pieces: list[str] = []
        end = 0
        for start, stop in spans:
            self._edits.append(Edit(start, stop, self.sentence[start:stop]))
            pieces += self.text[end:start], MASK * (stop - start)
            end = stop
        self.text = "".join([*pieces, self.text[end:]])

    def rewritten(self) -> Rewritten:
        pieces: list[Piece] = []
        end = 0
        for edit in sorted(self._edits):
            pieces.append(Piece(end, edit.start, self.sentence[end : edit.start], verbatim=True))
            written = self.sentence[edit.start : edit.end]
            start = edit.start + len(written) - len(written.lstrip())
            pieces.append(Piece(start, max(start, edit.start + len(written.rstrip())), edit.spoken))
            end = edit.end
        return Rewritten([*pieces, Piece(end, len(self.sentence), self.sentence[end:], verbatim=True)])
