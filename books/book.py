"""A book as it is spoken: chapters of blocks of text, whatever file it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """The part that a block of text plays on its page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list item"
    QUOTATION = "quotation"
    VERSE = "verse"
    SCENE_BREAK = "scene break"
    """A row of asterisks, a rule or an ornament between two scenes. It has no text."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One paragraph, heading or the like."""

    kind: BlockKind
    text: str = ""
    """The text without markup; a line break within the block is "\\n"."""
    level: int = 0
    """A heading's level, from 1."""


class Matter(StrEnum):
    """The part of a book that a chapter belongs to. Only the body is spoken unless the others are asked for."""

    FRONT = "front matter"
    BODY = "body"
    NOTES = "notes"
    BACK = "back matter"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter: its title, and its blocks, the heading among them if the page shows one."""

    title: str
    blocks: tuple[TextBlock, ...]
    matter: Matter = Matter.BODY

    @property
    def words(self) -> int:
        """Number of words, counted by spaces."""
        return sum(len(block.text.split()) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Picture:
    """A book's cover picture."""

    data: bytes = field(repr=False)
    media_type: str
    """`image/jpeg` or `image/png`."""


@dataclass(frozen=True, slots=True)
class Book:
    """A book's chapters and the facts that go into the finished file."""

    title: str
    chapters: tuple[Chapter, ...]
    author: str = ""
    language: str = ""
    """A BCP 47 tag as the file gives it ("en-GB", "fr"), or empty."""
    cover: Picture | None = None

    @property
    def body(self) -> tuple[Chapter, ...]:
        """Chapters that are spoken by default."""
        return tuple(chapter for chapter in self.chapters if chapter.matter is Matter.BODY)
