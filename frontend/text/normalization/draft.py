"""A sentence while the rules go over it: what one rule has taken, no later rule sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from frontend.text.normalization.patterns import MASK
from frontend.text.normalization.rewritten import Piece, Rewritten


class Edit(NamedTuple):
    """A stretch of the text and what is said for it."""

    start: int
    end: int
    spoken: str


class Draft:
    """Collects edits, all of them in places of the sentence as it was written: nothing is rewritten twice."""

    def __init__(self, sentence: str, language: str) -> None:
        self.sentence = sentence
        self.text = sentence
        """As long as the sentence, with `MASK` wherever a rule has taken a character."""
        self.british = language == "en-gb"
        self._edits: list[Edit] = []

    def replace(
        self, pattern: re.Pattern[str], spoken: Callable[[re.Match[str]], str | None], group: str | int = 0
    ) -> None:
        """Say something else for all matches; None leaves one as it is, to later rules.

        Args:
            group: the part of the match that is replaced; the rest is context.
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
        """Hide all matches from later rules, as they are."""
        self.replace(pattern, lambda match: self.sentence[match.start() : match.end()])

    def hide(self, spans: Iterable[tuple[int, int]]) -> None:
        """Keep stretches from all rules, as they are. They rise, and no rule has been applied yet."""
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
