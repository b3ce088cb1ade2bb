"""A book as it is read and spoken: chapters of blocks of text, and their sentences and words in time."""

from __future__ import annotations

import re
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
        return sum(len(block.text.split()) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Picture:
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
        return tuple(chapter for chapter in self.chapters if chapter.matter is Matter.BODY)


class BookError(ValueError):
    """A file that can't be made into a book. Its message is a sentence for the person who chose the file."""


SAMPLE_RATE = 24_000
"""Samples per second of all times in this package."""


@dataclass(frozen=True, slots=True)
class BookWord:
    """One word as it is written, and when it sounds."""

    text: str
    start: int
    """Samples from the start of its chapter, or of its passage as long as that stands alone."""
    end: int


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    text: str
    start: int
    """Samples from the chapter's start."""
    end: int
    words: tuple[BookWord, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenBlock:
    """One block of the chapter's text with its sentences; a scene break has none."""

    block: TextBlock
    sentences: tuple[SpokenSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenChapter:
    """One chapter: its text in time."""

    title: str
    blocks: tuple[SpokenBlock, ...]
    samples: int
    """Length of the chapter, its closing pause included."""

    @property
    def sentences(self) -> tuple[SpokenSentence, ...]:
        return tuple(sentence for block in self.blocks for sentence in block.sentences)

    @property
    def seconds(self) -> float:
        return self.samples / SAMPLE_RATE


_TAG = re.compile(
    r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z0-9]{5,8}|\d[a-z0-9]{3}))*", re.IGNORECASE
)
"""Language, script, region and variants (RFC 5646): the parts that books use."""

_NAMES = {
    "en": "eng english",
    "fr": "fra fre french français francais",
    "es": "spa spanish español espanol castellano",
    "it": "ita italian italiano",
    "pt": "por portuguese português portugues",
    "hi": "hin hindi हिन्दी",
    "ja": "jpn japanese 日本語",
    "zh": "zho chi cmn chinese mandarin 中文",
    "de": "deu ger german deutsch",
    "nl": "nld dut dutch nederlands",
    "ru": "rus russian русский",
}
"""Names of languages, and their codes of three letters where there is one of two, which BCP 47 demands."""
_BY_NAME = {name: code for code, names in _NAMES.items() for name in names.split()}
_NONE = frozenset(("und", "mul", "zxx", "mis", "xx"))
"""Codes that name no language."""


def language_tag(named: str) -> str:
    """The tag of a language that a file names as "en-GB", "en_US", "eng" or "English"; empty if it names none."""
    plain = named.strip().replace("_", "-").partition(",")[0].partition(";")[0].strip()
    first, _, rest = plain.partition("-")
    code = _BY_NAME.get(first.lower(), first.lower())
    tag = f"{code}-{rest}" if rest else code
    if code in _NONE or not code.isascii():
        return ""
    if _TAG.fullmatch(tag):
        return tag
    return code if _TAG.fullmatch(code) else ""
