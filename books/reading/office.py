"""Reading of Word's and OpenDocument's texts: as HTML of their headings, paragraphs, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from books.book import Book, language_tag
from books.reading.archive import Archive, parse_xml
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.document import read_document

WORD_TEXT, OPEN_TEXT = "word/document.xml", "content.xml"
"""The members of the archives that have the text."""
_DEEPEST = 100
_SILENT = {"annotation", "annotation-end", "note", "tracked-changes", "table-of-content", "sequence-decls", "forms"}
_LISTED = re.compile(r"list (?:bullet|number|paragraph)", re.IGNORECASE)
_HEADING = re.compile(r"(?:heading (\d)|title)", re.IGNORECASE)


def read_word(archive: Archive, name: str) -> Book:
    """Read a Word document (.docx). What was deleted with changes tracked, comments and notes are left out.

    Raises:
        BookError: it is damaged.
    """
    styles = dict(_styles(archive))
    body = parse_xml(archive.read(WORD_TEXT), WORD_TEXT)
    return _book("".join(_word(body, styles, 0)), archive, "docProps/core.xml", name)


def read_open_text(archive: Archive, name: str) -> Book:
    """Read an OpenDocument text (.odt).

    Raises:
        BookError: it is damaged or encrypted.
    """
    body = parse_xml(archive.read(OPEN_TEXT), OPEN_TEXT)
    return _book("".join(_open(body, 0)), archive, "meta.xml", name)


def _book(html: str, archive: Archive, facts: str, name: str) -> Book:
    found: dict[str, str] = {}
    if facts in archive:
        for element in parse_xml(archive.read(facts), facts).iter():
            if text := " ".join((element.text or "").split()):
                found.setdefault(_local(element), text)
    blocks = read_document(html).blocks
    title = found.get("title") or name
    chapters = by_divisions(blocks, heading_divisions(blocks), title)
    return Book(title, tuple(chapters), found.get("creator", ""), language_tag(found.get("language", "")))


def _local(element: Any) -> str:
    """An element's name without its namespace: both forms exist in two."""
    return str(element.tag).rpartition("}")[2]


def _value(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _styles(archive: Archive) -> Iterator[tuple[str, str]]:
    """Names of Word's styles, which are English in every language, by their identifiers, which aren't."""
    if "word/styles.xml" in archive:
        for style in parse_xml(archive.read("word/styles.xml"), "word/styles.xml"):
            named = next((_value(each, "val") for each in style if _local(each) == "name"), "")
            yield _value(style, "styleId"), named


def _shown(tag: str, inner: str) -> str:
    if tag == "td":  # a row is one line
        inner = re.sub(r"</?(?:p|h\d|li)>", " ", inner)
    return f"<{tag}>{inner}</{tag}>" if tag else inner


def _word(element: Any, styles: dict[str, str], depth: int) -> Iterator[str]:
    tag = _local(element)
    if tag == "t":
        yield escape(element.text or "")
    elif tag in ("br", "cr"):
        yield "<br>"
    elif tag in ("tab", "noBreakHyphen"):
        yield " " if tag == "tab" else "-"
    elif (
        tag in ("del", "moveFrom", "Fallback", "footnoteReference", "endnoteReference", "instrText") or depth > _DEEPEST
    ):
        return
    else:
        shown = _word_tag(element, tag, styles)
        inner = "".join(part for child in element for part in _word(child, styles, depth + 1))
        yield _shown(shown, inner)


def _word_tag(element: Any, tag: str, styles: dict[str, str]) -> str:
    if tag != "p":
        return {"tbl": "table", "tr": "tr", "tc": "td"}.get(tag, "")
    properties = next((each for each in element if _local(each) == "pPr"), ())
    style = next((_value(each, "val") for each in properties if _local(each) == "pStyle"), "")
    named = styles.get(style, style)
    if heading := _HEADING.fullmatch(named):
        return f"h{min(6, int(heading[1] or 1))}"
    listed = _LISTED.match(named) or any(_local(each) == "numPr" for each in properties)
    return "li" if listed else "p"


_OPEN_TAGS = {"p": "p", "list-item": "li", "table": "table", "table-row": "tr", "table-cell": "td", "span": "span"}


def _open(element: Any, depth: int) -> Iterator[str]:
    tag = _local(element)
    if tag in ("line-break", "tab", "s"):
        yield "<br>" if tag == "line-break" else " "
    elif tag not in _SILENT and depth <= _DEEPEST:
        level = _value(element, "outline-level")
        shown = f"h{min(6, int(level) if level.isdecimal() and level.isascii() else 1) or 1}" if tag == "h" else ""
        shown = shown or _OPEN_TAGS.get(tag, "")
        within = tag in ("p", "h", "span", "a")
        parts = [escape(element.text or "")] if within else []
        for child in element:
            parts += _open(child, depth + 1)
            parts += [escape(child.tail or "")] if within else []
        yield _shown(shown, "".join(parts))
