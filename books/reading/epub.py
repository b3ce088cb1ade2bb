"""Reading of EPUB 2 and 3, with their lists of parts: table of contents (nav, NCX), guide and landmarks."""

from __future__ import annotations

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from posixpath import dirname, join
from typing import Any
from urllib.parse import unquote

from books.book import Book, BookError, Chapter, Matter, Picture, TextBlock, language_tag
from books.reading.archive import Archive, parse_xml, plain_name
from books.reading.chapters import Division, by_divisions, heading_divisions, matter_of
from books.reading.decoding import decode, prepared
from books.reading.document import MOST_BLOCKS, read_document

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


log = logging.getLogger(__name__)

_CONTAINER = "META-INF/container.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Methods that garble fonts only."""
_PICTURES = {"image/jpeg", "image/png"}
_TEXTS = {
    *("application/xhtml+xml", "text/html", "application/x-dtbook+xml"),
    *("text/x-oeb1-document", "application/xml", "text/xml"),
}
"""Media types of documents: those of EPUB 2 and 3, and what makers write instead."""
_MOST_FALLBACKS = 10
_MOST_PLACES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Item:
    file: str
    media_type: str
    properties: frozenset[str]
    fallback: str = ""
    """Identifier of the item to be taken where this one is no text."""

    @property
    def is_text(self) -> bool:
        return self.media_type in _TEXTS or bool(re.search(r"\.x?html?$", self.file, re.IGNORECASE))


def read_epub(archive: Archive, name: str) -> Book:
    """Read an EPUB.

    Chapters come from the table of contents (EPUB 3's, else EPUB 2's); without one that divides the text, from
    headings; else each document is one.

    Args:
        name: the file's name without suffix: the title of a book that names none.

    Raises:
        BookError: it is damaged or encrypted, exceeds the bounds, or has no text.
    """
    package = _Package(archive)
    blocks, places, breaks = package.text()
    if not breaks:
        raise BookError("The book has no text: its package lists no documents to read.")
    if not any(block.text for block in blocks):
        raise BookError("The book has no text: its pages are pictures.")
    title = package.metadata("title") or name
    chapters = _chapters(blocks, places, breaks, package.toc(), title)
    return Book(
        title=title,
        chapters=tuple(chapters),
        author=", ".join(package.all_metadata("creator")),
        language=language_tag(package.metadata("language")),
        cover=package.cover(),
    )


_Places = dict[tuple[str, str], int]
"""Index of the first block at each file and element identifier; the identifier "" is the file's start."""


def _chapters(
    blocks: Sequence[TextBlock], places: _Places, breaks: Sequence[Division], toc: Sequence[TocEntry], title: str
) -> list[Chapter]:
    divisions = [
        Division(place, entry.title, entry.depth)
        for entry in toc
        # A link to an element that isn't there leads to its document's start, as in readers' programs.
        if (place := places.get((entry.file, entry.fragment), places.get((entry.file, "")))) is not None
    ]
    marked = [each for each in breaks if each.matter]
    matter = {each.start: each.matter for each in breaks}  # of documents without text the last begins there
    divisions = [Division(each.start, each.title, each.depth, matter.get(each.start)) for each in divisions]
    by_table = by_divisions(blocks, _with_marked(divisions, marked, breaks), title, Matter.FRONT)
    if len({division.start for division in divisions}) > 1:
        return by_table
    headings = by_divisions(blocks, _with_marked(heading_divisions(blocks), marked, breaks), title)
    return next((each for each in (headings, by_divisions(blocks, breaks, title)) if _bodies(each) > 1), headings)


def _with_marked(divisions: list[Division], marked: Sequence[Division], breaks: Sequence[Division]) -> list[Division]:
    """The table's divisions, and the documents that the publisher marked as other matter and left out of the table.

    The document after such a one, if it is in no table either, belongs to the chapter before, which goes on there.
    """
    ordered = sorted(divisions, key=lambda division: division.start)
    starts = {division.start for division in divisions}
    added = [each for each in marked if each.start not in starts]
    kept, places = list(divisions), [division.start for division in ordered]
    begins = [each.start for each in breaks]
    for each in added:
        place = bisect_right(begins, each.start)
        before = bisect_left(places, each.start)
        if place == len(breaks) or not before:
            continue
        following, chapter = breaks[place], ordered[before - 1]
        if following.start not in starts and not following.matter:
            kept.append(Division(following.start, chapter.title, chapter.depth, chapter.matter))
            starts.add(following.start)
    return [*kept, *added]


def _bodies(chapters: Sequence[Chapter]) -> int:
    return sum(chapter.matter is Matter.BODY for chapter in chapters)


class _Package:
    """An EPUB's package document and what it lists."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._name = self._package_name()
        self._root = self._xml(self._name)
        self._items = {
            item.get("id", ""): _Item(
                resolve(item.get("href", ""), self._name)[0],
                item.get("media-type", "").partition(";")[0].strip().lower(),
                frozenset(item.get("properties", "").split()),
                item.get("fallback", ""),
            )
            for item in self._root.findall("{*}manifest/{*}item")
        }
        self._refuse_encrypted()

    def _package_name(self) -> str:
        if _CONTAINER not in self._archive:
            raise BookError(f"The file is no EPUB: it lacks {_CONTAINER}.")
        rootfiles = [each for each in self._xml(_CONTAINER).findall(".//{*}rootfile") if each.get("full-path")]
        # Other renditions of the book, as a PDF, may be listed too.
        rootfiles.sort(key=lambda each: each.get("media-type") != "application/oebps-package+xml")
        if not rootfiles:
            raise BookError(f"The EPUB's {_CONTAINER} names no package document.")
        return str(rootfiles[0].get("full-path"))

    def _xml(self, name: str) -> Any:
        return parse_xml(self._archive.read(name), name)

    def _refuse_encrypted(self) -> None:
        if "META-INF/encryption.xml" not in self._archive:
            return
        methods = [
            method.get("Algorithm", "")
            for method in self._xml("META-INF/encryption.xml").iter(
                "{http://www.w3.org/2001/04/xmlenc#}EncryptionMethod"
            )
        ]
        if any(method not in _FONTS for method in methods):
            raise BookError("The EPUB is encrypted (DRM). Only a book without encryption can be read.")

    def all_metadata(self, name: str) -> list[str]:
        """Values of a Dublin Core element."""
        found = self._root.findall(f"{{*}}metadata//{{http://purl.org/dc/elements/1.1/}}{name}")
        return [text for element in found if (text := " ".join((element.text or "").split()))]

    def metadata(self, name: str) -> str:
        """First value of a Dublin Core element, or nothing."""
        return next(iter(self.all_metadata(name)), "")

    def text(self) -> tuple[list[TextBlock], _Places, list[Division]]:
        """Blocks of the documents in reading order, the places in them, and each document's start."""
        blocks: list[TextBlock] = []
        places: _Places = {}
        breaks = []
        guide = self._guide()
        for item in self._spine():
            if (item.file, "") in places:
                continue
            if item.file not in self._archive:
                raise BookError(f"The EPUB lacks its document {item.file}: it is incomplete.")
            document = read_document(decode(self._archive.read(item.file)))
            start = len(blocks)
            places.setdefault((item.file, ""), start)
            for anchor, index in document.anchors.items() if len(places) < _MOST_PLACES else ():
                places.setdefault((item.file, anchor), start + index)
            matter = matter_of("", document.types | (item.properties & {"nav"} and {"toc"}))
            if matter is Matter.BODY:
                matter = guided(guide.get(item.file), document.blocks)
            breaks.append(Division(start, document.title, 0, None if matter is Matter.BODY else matter))
            blocks += document.blocks
            if len(blocks) > MOST_BLOCKS:
                raise BookError(f"The book has more than {MOST_BLOCKS} paragraphs, which is taken for an attack.")
        return blocks, places, breaks

    def _spine(self) -> Iterator[_Item]:
        """Documents in reading order, without those outside it."""
        for reference in self._root.findall("{*}spine/{*}itemref"):
            item = self._items.get(reference.get("idref", ""))
            for _ in range(_MOST_FALLBACKS):
                if item is None or item.is_text:
                    break
                item = self._items.get(item.fallback)
            if item is not None and item.is_text and reference.get("linear") != "no":
                yield item

    def _guide(self) -> dict[str, str]:
        """Parts of the book that whole documents are, by the guide of EPUB 2 and the landmarks of EPUB 3."""
        links = [
            (str(each.get("href", "")), str(each.get("type", "")), self._name)
            for each in self._root.findall("{*}guide/{*}reference")
        ]
        if nav := self._nav():
            links += [(href, kind, nav.file) for href, kind in landmarks(decode(self._archive.read(nav.file)))]
        found: dict[str, str] = {}
        for href, kind, base in links:
            file, fragment = resolve(href, base)
            if not fragment:
                found.setdefault(file, kind.strip().lower())
        return found

    def _nav(self) -> _Item | None:
        nav = next((item for item in self._items.values() if "nav" in item.properties), None)
        return nav if nav and nav.file in self._archive else None

    def toc(self) -> list[TocEntry]:
        """Entries of the table of contents; none if there is no readable one."""
        nav = self._nav()
        if nav and (entries := nav_entries(decode(self._archive.read(nav.file)), nav.file)):
            return entries
        spine = self._root.find("{*}spine")
        named = self._items.get(spine.get("toc", "")) if spine is not None else None
        ncx = named or next(
            (item for item in self._items.values() if item.media_type == "application/x-dtbncx+xml"), None
        )
        if ncx is None or ncx.file not in self._archive:
            return []
        try:
            return ncx_entries(self._xml(ncx.file), ncx.file)
        except BookError:
            return []  # headings divide the book instead

    def cover(self) -> Picture | None:
        """The cover, if the package names one that is a JPEG or PNG."""
        identifier = next(
            (meta.get("content", "") for meta in self._root.findall(".//{*}meta") if meta.get("name") == "cover"), ""
        )
        item = next((item for item in self._items.values() if "cover-image" in item.properties), None)
        item = item or self._items.get(identifier)
        if item is None or item.media_type not in _PICTURES or item.file not in self._archive:
            return None
        try:
            return Picture(self._archive.read(item.file), item.media_type)
        except BookError as error:
            log.warning("the cover can't be read and is left out: %s", error)  # the book is no worse to hear
            return None
