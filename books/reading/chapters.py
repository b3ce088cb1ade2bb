"""Division of a text into chapters: by a table of contents, by headings, or by files; and their part of the book."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from books.book import BlockKind, Chapter, Matter, TextBlock
from text.locales.tables import languages, table

_TYPES = {
    Matter.FRONT: (
        "cover titlepage halftitlepage copyright-page imprint imprimatur dedication epigraph toc landmarks loi "
        "lot loa lov seriespage doc-cover doc-dedication doc-epigraph doc-toc"
    ),
    Matter.NOTES: ("footnotes endnotes rearnotes doc-endnotes doc-footnote doc-footnotes"),
    Matter.BACK: (
        "index bibliography colophon acknowledgments acknowledgements contributors other-credits errata doc-index "
        "doc-bibliography doc-colophon doc-acknowledgments doc-credits doc-errata"
    ),
}
"""Values of `epub:type` and `role` of each part."""
_BY_TYPE = {name: matter for matter, names in _TYPES.items() for name in names.split()}


@cache
def _titles() -> dict[Matter, re.Pattern[str]]:
    """Patterns of the parts' titles, in all languages that have a table of them."""
    tables = [table(language, "books") for language in languages("books")]
    parts = {Matter.FRONT: "front", Matter.NOTES: "notes", Matter.BACK: "back"}
    return {
        matter: re.compile("|".join(title for titles in tables for title in titles.get(name, ())))
        for matter, name in parts.items()
    }


def matter_of(title: str, types: Set[str] = frozenset()) -> Matter:
    """Part of the book that a chapter belongs to.

    A preface, foreword, introduction, prologue, epilogue or appendix is body: its reader would not skip it.

    Args:
        types: values of `epub:type` and `role` where the chapter begins. They outweigh the title.
    """
    for name, matter in _BY_TYPE.items():
        if name in types:
            return matter
    plain = unicodedata.normalize("NFD", title.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter) or "ऀ" <= letter <= "ॿ")
    plain = " ".join(unicodedata.normalize("NFC", plain).replace("’", "'").strip(" .:*—–-").split())
    return next((matter for matter, pattern in _titles().items() if pattern.fullmatch(plain)), Matter.BODY)


PART_WORDS = 150
"""A division of the table of contents with fewer words of its own is a part: its subdivisions are the chapters. One
with more is a chapter, and its subdivisions are sections of it.
"""


@dataclass(frozen=True, slots=True)
class Division:
    """A place where the text divides."""

    start: int
    """Index of its first block."""
    title: str
    depth: int = 0
    """Depth in the table of contents, 0 for the outermost."""
    matter: Matter | None = None
    """Part of the book, where the publisher marked it."""


def heading_divisions(blocks: Sequence[TextBlock]) -> list[Division]:
    """Headings of the outermost level that occurs at least twice, or the only heading. A single heading above the
    others is the book's title.
    """
    levels = Counter(block.level for block in blocks if block.kind is BlockKind.HEADING)
    level = min((level for level, count in levels.items() if count > 1), default=min(levels, default=0))
    return [
        Division(index, block.text)
        for index, block in enumerate(blocks)
        if block.kind is BlockKind.HEADING and block.level == level
    ]


def by_divisions(
    blocks: Sequence[TextBlock], divisions: Sequence[Division], title: str, before: Matter | None = None
) -> list[Chapter]:
    """Chapters that begin at the divisions; those without any text are left out.

    Args:
        divisions: in the order of the table of contents, which needs not be the text's.
        title: title of the text before the first division.
        before: part of the book that this text belongs to. None: it is a title page, and so front matter, if it has
            fewer than `PART_WORDS` words and isn't all of the text.
    """
    starts = _starts(blocks, divisions)
    if before is None and starts:
        words = sum(len(block.text.split()) for block in blocks[: starts[0].start])
        before = Matter.FRONT if words < PART_WORDS else Matter.BODY
    if not starts or starts[0].start > 0:
        starts.insert(0, Division(0, title, matter=before))
    ends = [following.start for _, following in pairwise(starts)] + [len(blocks)]
    chapters = []
    for division, end in zip(starts, ends, strict=True):
        own = _without_outer_breaks(blocks[division.start : end])
        if any(block.text for block in own):
            named = " ".join(division.title.split()) or _heading(own) or title
            chapters.append(Chapter(named, own, division.matter or matter_of(named)))
    return chapters


def _starts(blocks: Sequence[TextBlock], divisions: Sequence[Division]) -> list[Division]:
    """Divisions where a chapter begins, in the text's order: subdivisions only of parts, one for each place."""
    ordered = sorted(divisions, key=lambda division: (division.start, division.depth))
    words = [0, *accumulate(len(block.text.split()) for block in blocks)]
    chosen: list[Division] = []
    covering: list[Division] = []  # the outer divisions of the one in hand that are chapters, not parts
    for index, division in enumerate(ordered):
        covering = [outer for outer in covering if outer.depth < division.depth]
        if covering:
            continue
        if chosen and chosen[-1].start == division.start:
            if division.depth > chosen[-1].depth and division.title:
                outer = chosen[-1].title
                title = division.title if outer in division.title else f"{outer}: {division.title}".strip(": ")
                chosen[-1] = Division(division.start, title, division.depth, chosen[-1].matter)
        else:
            chosen.append(division)
        inner = ordered[index + 1].start if index + 1 < len(ordered) else len(blocks)
        if words[inner] - words[division.start] >= PART_WORDS:
            covering.append(division)
    return chosen


def _heading(blocks: Sequence[TextBlock]) -> str:
    return next((" ".join(block.text.split()) for block in blocks if block.kind is BlockKind.HEADING), "")


def _without_outer_breaks(blocks: Sequence[TextBlock]) -> tuple[TextBlock, ...]:
    kept = list(blocks)
    while kept and kept[0].kind is BlockKind.SCENE_BREAK:
        kept.pop(0)
    while kept and kept[-1].kind is BlockKind.SCENE_BREAK:
        kept.pop()
    return tuple(kept)
