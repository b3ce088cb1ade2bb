"""An EPUB's lists of its parts: the table of contents (EPUB 3's nav, EPUB 2's NCX), guide and landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from posixpath import dirname, join
from typing import Any
from urllib.parse import unquote

from books.book import Matter, TextBlock
from books.reading.archive import plain_name
from books.reading.chapters import matter_of
from books.reading.decoding import prepared

_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class TocEntry:
    title: str
    file: str
    """Name of the document in the archive."""
    fragment: str
    """Identifier of the element where the chapter begins, or empty for the document's start."""
    depth: int
    """Depth of the line; 0 for the outermost."""


def resolve(link: str, base: str) -> tuple[str, str]:
    """File and fragment of a link in the file `base` of an archive."""
    address, _, fragment = link.strip().partition("#")
    path = unquote(address.partition("?")[0])
    return plain_name(join(dirname(base), path)) if path else base, unquote(fragment)


def nav_entries(text: str, name: str) -> list[TocEntry]:
    """Entries of an EPUB 3 navigation document named `name` in its archive, in the order of the table. Entries without
    a link are left out.
    """
    parser = _Nav(name)
    parser.feed(prepared(text))
    parser.close()
    return parser.entries


class _Nav(HTMLParser):
    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[TocEntry] = []
        self._name = name
        self._inside = False
        self._lists = 0
        self._link: str | None = None
        self._title: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        if tag == "nav":
            types = f"{attributes.get('epub:type', '')} {attributes.get('role', '')}".split()
            self._inside = "toc" in types or "doc-toc" in types or not types
        elif tag == "ol" and self._inside:
            self._lists += 1
        elif tag == "a" and self._inside:
            self._link, self._title = attributes.get("href", ""), []

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._inside, self._lists = False, 0
        elif tag == "ol" and self._inside:
            self._lists -= 1
        elif tag == "a" and self._link:
            file, fragment = resolve(self._link, self._name)
            depth = min(max(self._lists - 1, 0), _DEEPEST)
            self.entries.append(TocEntry(" ".join("".join(self._title).split()), file, fragment, depth))
            self._link = None

    def handle_data(self, data: str) -> None:
        if self._link is not None:
            self._title.append(data)


def ncx_entries(root: Any, name: str) -> list[TocEntry]:
    """Entries of an NCX document, in the order of the table.

    Args:
        root: the document's element, from defusedxml.
        name: the document's name in its archive.
    """
    entries = []
    waiting = [(point, 0) for point in reversed(root.findall("{*}navMap/{*}navPoint"))]
    while waiting:
        point, depth = waiting.pop()
        title = " ".join("".join(point.findtext("{*}navLabel/{*}text") or "").split())
        content = point.find("{*}content")
        if content is not None and content.get("src"):
            file, fragment = resolve(content.get("src"), name)
            entries.append(TocEntry(title, file, fragment, depth))
        inner = min(depth + 1, _DEEPEST)
        waiting.extend((child, inner) for child in reversed(point.findall("{*}navPoint")))
    return entries


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
