"""Builder of a `Marked` text, stretch by stretch, which sanitises the text and gives annotations correct positions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from shm.inflection import PLAIN, Inflection
from text.markup.marked import (
    Annotation,
    Bookmark,
    Entrance,
    Inflected,
    Marked,
    Pause,
    Pronunciation,
    Rate,
    SentenceEnd,
)
from text.words.performer import Performer
from text.words.sanitize import sanitize

_GUARD = "!"
"""Guard character around a stretch during sanitising, so that spaces at the stretch's edges stay. It composes with no
mark, and ends no terminal code at the stretch's end.
"""

_STAYS_WITH_FORMER = frozenset(".,;:!?…)]}”’»%。，、；：！？）」』】।॥؟،؛")
"""Signs that follow a word without a space, even if a pause stands before them."""


@dataclass(eq=False, slots=True)
class _Element:
    """An element of markup that inflects its text."""

    inflection: Inflection
    start: int = 0
    end: int = 0
    written: int = 0
    """Characters of its text that aren't white space."""


class MarkedBuilder:
    """Collects text and annotations in the order of the text."""

    def __init__(self) -> None:
        self.pause_seconds = 0.0
        """Total seconds of all pauses so far."""
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        """Last character of the text so far."""
        self._separator = ""
        """Separator before the next text: nothing, a space, or one or two newlines."""
        self._apart = False
        """True after a pause: the next text begins another word."""
        self._touching = False
        """True if no white space stands between that pause and the next text."""
        self._sentence_only = False
        self._pauses: list[float] = []
        self._bookmarks: list[str] = []
        """Names of the bookmarks since the text so far."""
        self._annotations: list[Annotation] = []
        self.performer: Performer | None = None
        """Performer of the following text; None: the performer of all text that names no voice."""
        self._speaking: Performer | None = None
        """Performer of the text so far."""
        self._open: tuple[_Element, ...] = ()
        """The elements around the following text that inflect it, the outermost first."""
        self._inflected: list[tuple[int, int, tuple[_Element, ...]]] = []
        """Stretches of text with the elements around them."""

    def inflect(self, inflection: Inflection) -> None:
        """Begin an element whose text is inflected, besides what the elements around it ask for."""
        self._open += (_Element(inflection),)

    def end_inflection(self) -> None:
        """End the innermost of those elements."""
        self._open = self._open[:-1]

    def text(self, written: str, *, rate: float = 1.0, phonemes: str | None = None, language: str = "") -> None:
        """Add a stretch of text, which continues the word before if no white space is between them.

        Args:
            phonemes: the stretch's pronunciation (`Pronunciation.phonemes`).
            language: another language than the text's, whose words these are (`Pronunciation.language`).
        """
        guarded = sanitize(_GUARD + written + _GUARD)[1:-1]
        if self.performer != self._speaking:
            guarded = self._with_closing_signs(guarded)
        core = guarded.strip(" \n")
        self._separate(guarded[: len(guarded) - len(guarded.lstrip(" \n"))])
        if not core:
            return
        if self.performer != self._speaking:
            self._apart = True
        self._add_separator(core[0])
        start = self._length
        self._enter()
        self._add_bookmarks()
        self._add(core)
        if phonemes is not None or language:
            self._annotations.append(Pronunciation(start, self._length, phonemes or "", language))
        if rate != 1.0:
            self._add_rate(start, rate)
        if self._open:
            self._inflected.append((start, self._length, self._open))
        self._separate(guarded[len(guarded.rstrip(" \n")) :])

    def pause(self, seconds: float) -> None:
        """Add to the pause at this place. A pause ends a word, not a sentence."""
        self.pause_seconds += seconds
        self._pauses.append(seconds)
        self._apart = self._touching = True

    def bookmark(self, name: str) -> None:
        """Mark this place, unless the name is empty. A bookmark ends nothing: it may stand inside a word."""
        if name:
            self._bookmarks.append(name)

    def paragraph(self) -> None:
        """Begin or end a paragraph here."""
        self._separator = "\n\n"
        self._sentence_only = False

    def sentence(self) -> None:
        """Begin or end a sentence here."""
        self._sentence_only = self._separator != "\n\n" or self._sentence_only
        self._separator = "\n\n"

    def marked(self) -> Marked:
        """Finished text with its annotations; no method may be called after this one."""
        self._add_pauses()
        self._add_bookmarks()
        text = "".join(self._parts)
        return Marked(text, (*self._annotations, *self._inflections(text)))

    def _inflections(self, text: str) -> Iterator[Inflected]:
        for start, end, around in self._inflected:
            for element in around:
                if not element.end:
                    element.start = start
                element.end = end
                element.written += len("".join(text[start:end].split()))
        for start, end, around in self._inflected:
            inflection = PLAIN
            for element in around:
                own, length = element.inflection, element.end - element.start
                own = own.part((start - element.start) / length, (end - element.start) / length)
                if own.duration:
                    own = msgspec.structs.replace(own, duration=own.duration / element.written)
                inflection = own.within(inflection)
            if inflection != PLAIN:
                yield Inflected(start, end, inflection)

    def _with_closing_signs(self, guarded: str) -> str:
        """Give signs that close the former performer's words to that performer; return the rest of the text."""
        if not self._length or self._separator:
            return guarded
        rest = guarded.lstrip("".join(_STAYS_WITH_FORMER) + "\"'")
        self._add(guarded[: len(guarded) - len(rest)])
        return rest

    def _enter(self) -> None:
        """Note that the performer of the following text speaks from here."""
        if self.performer != self._speaking:
            self._annotations.append(Entrance(self._length, self.performer))
            self._speaking = self.performer

    def _separate(self, spaces: str) -> None:
        """Merge white space into the separator as sanitised text has it: a space, or one or two newlines."""
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

    def _add_bookmarks(self) -> None:
        self._annotations += (Bookmark(self._length, name) for name in self._bookmarks)
        self._bookmarks = []

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
    """True if NFC would change two characters side by side."""
    return unicodedata.combining(following) != 0 or unicodedata.normalize("NFC", last + following) != last + following


INFLECTION_TAGS = ("pitch", "range", "volume")
"""Fields of an inflection that have a tag of the same name: semitones, a factor, dB."""

_SPACES = re.compile(r"[ \t\r]*\n[ \t\r\n]*\n[ \t\r\n]*|\s+")


class TagWriter:
    """Collects text and tags in the order of the text."""

    def __init__(self, voice: str) -> None:
        """Args:
        voice: the voice of all text that names no other; without it, tags that change voice or pace are left out.
        """
        self.pause_seconds = 0.0
        """Total seconds of all pauses so far."""
        self.performer: Performer | None = None
        """Performer of the following text; None: `voice`."""
        self._voice = voice
        self._speaking: Performer | None = None
        self._rate = 1.0
        self._inflections = [PLAIN]
        self._inflected = PLAIN
        self._parts: list[str] = []

    def inflect(self, inflection: Inflection) -> None:
        """Begin an element; tags have pitch, range and volume, and leave out the rest of an inflection."""
        self._inflections.append(inflection.within(self._inflections[-1]))

    def end_inflection(self) -> None:
        self._inflections.pop()

    def text(self, written: str, *, rate: float = 1.0, phonemes: str | None = None, language: str = "") -> None:
        if not written.strip():
            self._parts.append(written)
            return
        if self._voice and self.performer != self._speaking:
            self._speaking, self._rate, self._inflected = self.performer, 1.0, PLAIN
            self._parts.append(f" [voice:{self.performer.name if self.performer else self._voice}] ")
        if self._voice and rate != self._rate:
            self._rate = rate
            self._parts.append(f" [rate:{rate:.6g}] ")
        wanted, former = self._inflections[-1], self._inflected
        for name in INFLECTION_TAGS:
            if self._voice and getattr(wanted, name) != getattr(former, name):
                self._parts.append(f" [{name}:{getattr(wanted, name):.6g}] ")
        self._inflected = wanted
        self._parts.append(written if phonemes is None else f"[{written.strip()}](/{phonemes}/)")

    def pause(self, seconds: float) -> None:
        self.pause_seconds += seconds
        self._parts.append(f" [pause:{seconds:.6g}s] ")

    def bookmark(self, name: str) -> None:
        """Leave the bookmark out: tags have none."""

    def paragraph(self) -> None:
        self._parts.append("\n\n")

    def sentence(self) -> None:
        self._parts.append(" ")

    def written(self) -> str:
        joined = "".join(self._parts)
        return _SPACES.sub(lambda space: "\n\n" if space[0].count("\n") > 1 else " ", joined).strip()
