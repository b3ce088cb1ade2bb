"""Settings of one book, and the choice of its chapters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from books.book import BlockKind, BookError, Chapter


@dataclass(frozen=True, slots=True)
class BookPauses:
    """Silence after each kind of block, in seconds."""

    paragraph: float = 0.45
    heading: float = 1.0
    list_item: float = 0.35
    verse_line: float = 0.25
    scene_break: float = 1.5
    """Instead of the pause before it."""
    chapter: float = 2.5

    @classmethod
    def given(cls, paragraph: float | None, scene_break: float | None, chapter: float | None) -> BookPauses:
        given = {"paragraph": paragraph, "scene_break": scene_break, "chapter": chapter}
        return cls(**{name: seconds for name, seconds in given.items() if seconds is not None})

    def after(self, kind: BlockKind) -> float:
        return {
            BlockKind.HEADING: self.heading,
            BlockKind.LIST_ITEM: self.list_item,
            BlockKind.SCENE_BREAK: self.scene_break,
        }.get(kind, self.paragraph)


@dataclass(frozen=True, slots=True)
class BookCast:
    """Voices of a book's speakers; an empty name is the server's default voice."""

    narrator: str = ""
    quotes: str = ""
    """Voice of quoted speech whose speaker the text doesn't name; empty: the narrator's."""
    speakers: dict[str, str] = field(default_factory=dict)
    """Voices of speakers whom the text names before their words, as a play does ("ALICE: Who are you?"), or around a
    quotation ("said Alice").
    """

    @property
    def voices(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (self.narrator, self.quotes, *self.speakers.values()))))


@dataclass(frozen=True, slots=True)
class BookSettings:
    cast: BookCast = BookCast()
    speed: float | None = None
    """None: the server's default."""
    language: str = ""
    """A language code of the server's; empty: the book's own, else the voice's."""
    pauses: BookPauses = BookPauses()
    loudness: float | None = None
    """LUFS to which each chapter is brought; None: as the model speaks."""


def chosen(chapters: Sequence[Chapter], ranges: str) -> tuple[Chapter, ...]:
    """Chapters of a list such as "3-9" or "1,4-", numbered from 1; all for an empty one.

    Raises:
        BookError: that is no such list, or it names none of the chapters.
    """
    if not ranges.strip():
        return tuple(chapters)
    wanted: set[int] = set()
    for part in ranges.split(","):
        found = re.fullmatch(r"\s*+(\d*+)\s*+(-?)\s*+(\d*+)\s*+", part)
        if not found or not (found[1] or found[3]):
            raise BookError(f"{part.strip()!r} is no range of chapters: write 3, 3-9, 3- or -9.")
        first = int(found[1] or 1)
        last = int(found[3] or (len(chapters) if found[2] else first))
        wanted.update(range(first, min(last, len(chapters)) + 1))
    taken = tuple(chapter for number, chapter in enumerate(chapters, 1) if number in wanted)
    if not taken:
        raise BookError(f"The book has {len(chapters)} chapters, and {ranges!r} names none of them.")
    return taken
