"""Puts a `Marked` together, stretch by stretch, so that its text is sanitised and its places are true."""

from __future__ import annotations

import unicodedata

from frontend.text.markup.marked import Annotation, Marked, Pause, Pronunciation, Rate, SentenceEnd
from frontend.text.sanitize import sanitize

_GUARD = "!"
"""Around a stretch while it is sanitised, so that spaces at its edges stay. Composes with no mark, and ends no terminal
code that a stretch may break off in."""

_STAYS_WITH_FORMER = frozenset(".,;:!?…)]}”’»%。，、；：！？）」』】।॥؟،؛")
"""A pause right before such a sign leaves no space before it."""


class MarkedBuilder:
    """Takes text and what is said about it in the order of the text."""

    def __init__(self) -> None:
        self.pause_seconds = 0.0
        """Of all pauses so far."""
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        """The last character."""
        self._separator = ""
        """What comes before the next text: nothing, a space, or one or two newlines."""
        self._apart = False
        """A pause was here: what follows is another word."""
        self._touching = False
        """Nothing stood between that pause and what follows."""
        self._sentence_only = False
        self._pauses: list[float] = []
        self._annotations: list[Annotation] = []

    def text(self, written: str, *, rate: float = 1.0, phonemes: str | None = None) -> None:
        """Add a stretch, which joins the one before where no white space is between them.

        Args:
            phonemes: how it is pronounced (`Pronunciation.phonemes`).
        """
        guarded = sanitize(_GUARD + written + _GUARD)[1:-1]
        core = guarded.strip(" \n")
        self._separate(guarded[: len(guarded) - len(guarded.lstrip(" \n"))])
        if not core:
            return
        self._add_separator(core[0])
        start = self._length
        self._add(core)
        if phonemes is not None:
            self._annotations.append(Pronunciation(start, self._length, phonemes))
        if rate != 1.0:
            self._add_rate(start, rate)
        self._separate(guarded[len(guarded.rstrip(" \n")) :])

    def pause(self, seconds: float) -> None:
        """Add to the pause at this place. It ends a word, not a sentence."""
        self.pause_seconds += seconds
        self._pauses.append(seconds)
        self._apart = self._touching = True

    def paragraph(self) -> None:
        """A paragraph ends or begins here."""
        self._separator = "\n\n"
        self._sentence_only = False

    def sentence(self) -> None:
        """A sentence ends or begins here."""
        self._sentence_only = self._separator != "\n\n" or self._sentence_only
        self._separator = "\n\n"

    def marked(self) -> Marked:
        """What was put together; nothing may be added afterwards."""
        self._add_pauses()
        return Marked("".join(self._parts), tuple(self._annotations))

    def _separate(self, spaces: str) -> None:
        """White space as sanitised text has it: some spaces, or one or two newlines."""
        self._touching = self._touching and not spaces
        newlines = min(2, self._separator.count("\n") + spaces.count("\n"))
        self._separator = "\n" * newlines or (self._separator or spaces)[:1]

    def _add_separator(self, following: str) -> None:
        self._add_pauses()
        if self._touching and following in _STAYS_WITH_FORMER and self._separator in ("", " "):
            self._separator = ""
        elif self._apart:
            self._separator = self._separator or " "
        if not self._separator and _would_change(self._last, following):
            self._separator = " "
        if self._length:
            self._add(self._separator)
            if self._sentence_only:
                self._annotations.append(SentenceEnd(self._length))
        self._separator = ""
        self._apart = self._sentence_only = False

    def _add_pauses(self) -> None:
        if self._pauses:
            self._annotations.append(Pause(self._length, sum(self._pauses)))
            self._pauses = []

    def _add_rate(self, start: int, rate: float) -> None:
        former = self._annotations[-1] if self._annotations else None
        if isinstance(former, Rate) and former.rate == rate and former.end == start:
            self._annotations[-1] = Rate(former.start, self._length, rate)
        else:
            self._annotations.append(Rate(start, self._length, rate))

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        self._last = text[-1:] or self._last


def _would_change(last: str, following: str) -> bool:
    """Whether two characters side by side would not stay as they are in NFC."""
    return unicodedata.combining(following) != 0 or unicodedata.normalize("NFC", last + following) != last + following
