"""Parts of a book as its maker lists them apart from the table of contents: EPUB 2's guide, EPUB 3's landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from books.book import Matter, TextBlock
from books.reading.markup import prepared
from books.reading.matter import matter_of

_TYPES = {"title-page": "titlepage", "notes": "endnotes", "acknowledgements": "acknowledgments"}
"""EPUB 2's names of parts that EPUB 3 names otherwise."""
_MOST_WORDS = 1500
"""Words of a document that the guide may call a cover or the like: one that is a whole book is called so too."""


def guided(kind: str | None, blocks: Sequence[TextBlock]) -> Matter:
    """Part of the book that a document belongs to by the guide's word for it."""
    matter = matter_of("", {_TYPES.get(kind, kind)}) if kind else Matter.BODY
    words = sum(len(block.text.split()) for block in blocks) if matter is Matter.FRONT else 0
    return matter if words <= _MOST_WORDS else Matter.BODY


def landmarks(text: str) -> list[tuple[str, str]]:
    """Links of a navigation document's landmarks, each with its `epub:type`."""
    parser = _Landmarks(convert_charrefs=True)
    parser.feed(prepared(text))
    parser.close()
    return parser.links


class _Landmarks(HTMLParser):
    def __init__(self, *, convert_charrefs: bool) -> None:
        super().__init__(convert_charrefs=convert_charrefs)
        self.links: list[tuple[str, str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        if tag == "nav":
            self._inside = "landmarks" in attributes.get("epub:type", "").split()
        elif tag == "a" and self._inside and attributes.get("href"):
            self.links += [(attributes["href"], kind) for kind in attributes.get("epub:type", "").split()]

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._inside = False
