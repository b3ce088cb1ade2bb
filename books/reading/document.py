"""Blocks of text of one HTML or XHTML document, with the places that links into it name.

The parser is the standard library's lenient one: books are made by hand and by many programs, and it expands no
entities but HTML's own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from books.book import Block, BlockKind

_SILENT = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "svg",
        "math",
        "audio",
        "video",
        "canvas",
        "object",
        "iframe",
        "button",
        "form",
        "select",
        "textarea",
        "dialog",
        "rt",
        "rp",
        "figure",
        "img",
        "title",
    ]
)
"""Elements whose text isn't spoken. A picture's caption is of no use without the picture."""
_BESIDE = frozenset({"nav", "footer", "aside", "header", "menu"})
"""Elements of a web page that stand beside its text."""
_MAIN = frozenset({"article", "main"})
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "caption",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
_CELLS = frozenset({"td", "th"})
_SILENT_TYPES = frozenset(
    [
        "footnote",
        "footnotes",
        "endnote",
        "endnotes",
        "rearnote",
        "rearnotes",
        "note",
        "noteref",
        "pagebreak",
        "page-list",
        "doc-footnote",
        "doc-endnote",
        "doc-endnotes",
        "doc-noteref",
        "doc-pagebreak",
        "doc-backlink",
        "backlink",
    ]
)
"""Values of `epub:type` and `role` of notes, of the marks that refer to them, and of the printed edition's page
numbers."""
_SILENT_CLASS = re.compile(
    r"(?:^|[\s_-])(?:page-?(?:num(?:ber)?|no|break)|footnote|fnanchor|noteref|endnote)s?(?:$|[\s_-])", re.I
)
_VERSE_CLASS = re.compile(r"(?:^|[\s_-])(?:verse|poem|poetry|stanza|line-?group)(?:$|[\s_-])", re.I)
_NOTE_MARK = re.compile(
    r"\s*(?:[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]|\d{1,4}|\*{1,3}|[†‡§¶]{1,3})\s*", re.I
)
_BRACKETED_MARK = re.compile(r"\s*[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]\s*", re.I)
_EXPONENT = re.compile(r"[\d+\-−]{1,6}")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_DEEPEST = 400
"""Open elements that are followed. Deeper ones are those of a generator gone wild, and their text is kept."""
_MOST_TYPES = 50
ORNAMENT = re.compile(r"[\s*•·⁂∗✻✽❦☙❧◆◇■□●○~#=_+—–―.\-]*[*•·⁂∗✻✽❦☙❧◆◇■□●○~#=_+—–―\-][\s*•·⁂∗✻✽❦☙❧◆◇■□●○~#=_+—–―.\-]*")
"""A line without a letter or digit between two scenes, such as "* * *"."""


@dataclass(slots=True)
class Document:
    """Text of one document."""

    blocks: list[Block] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    """Element identifiers, each with the index in `blocks` of the first block at or after the element."""
    title: str = ""
    language: str = ""
    types: frozenset[str] = frozenset()
    """Values of `epub:type` and `role` of the elements that begin before the first block."""


@dataclass(slots=True)
class _Element:
    tag: str
    silent: bool = False
    kind: BlockKind | None = None
    level: int = 0
    main: bool = False
    mark: tuple[int, int] | None = None
    """Place of a link or superscript, which may be the mark of a note: number of its block, and of pieces of text
    before it."""
    link: bool = False


def read_document(text: str, web_page: bool = False) -> Document:
    """Parse a document. Any text is accepted.

    Args:
        web_page: leave out what stands beside a page's text: its navigation, header and footer, and all that is outside
            `<article>` or `<main>` if the page has one with text.
    """
    parser = _Parser(web_page)
    parser.feed(text)
    parser.close()
    parser.end_block()
    document = parser.document
    if web_page and sum(len(block.text) for block in parser.main_blocks) > 200:
        return replace(document, blocks=parser.main_blocks, anchors={})
    return document


class _Parser(HTMLParser):
    def __init__(self, web_page: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.document = Document()
        self.main_blocks: list[Block] = []
        self._web_page = web_page
        self._open: list[_Element] = []
        self._text: list[str] = []
        self._in_title = False
        self._tags: Counter[str] = Counter()
        """Numbers of open elements of each name."""
        self._number = 0
        """Number of the block whose text is gathered."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self._in_title = tag == "title" and not self.document.title
        if tag in _BLOCKS:
            self.end_block()
        for name in ("id", "name"):
            if name in attributes and (name == "id" or tag == "a"):
                self.document.anchors.setdefault(attributes[name], len(self.document.blocks))
        if tag == "br":
            self._text.append("\n")
        elif tag == "hr" and not self._silent():
            self._add(Block(BlockKind.SCENE_BREAK))
        if tag == "html":
            self.document.language = attributes.get("lang") or attributes.get("xml:lang", "")
        types = frozenset(f"{attributes.get('epub:type', '')} {attributes.get('role', '')}".lower().split())
        if types and not self.document.blocks and len(self.document.types) < _MOST_TYPES:
            self.document.types |= types
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(self._element(tag, attributes, types))
            self._tags[tag] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._tags[tag]:
            return
        if tag in _BLOCKS:
            self.end_block()
        elif tag in _CELLS and self._text and not self._silent():
            self._text.append("\t")
        while self._open:
            element = self._open.pop()
            self._tags[element.tag] -= 1
            if element.mark and element.mark[0] == self._number:
                self._end_mark(element, element.mark[1])
            if element.tag == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.document.title = " ".join(f"{self.document.title}{data}".split())
        if not self._silent():
            self._text.append(data if self._tags["pre"] else re.sub(r"\s+", " ", data))

    def end_block(self) -> None:
        """Make a block of the text since the last one."""
        text = _tidy("".join(self._text))
        self._text.clear()
        self._number += 1
        if not text:
            return
        styled = self._open[-1] if self._open else _Element("")
        if ORNAMENT.fullmatch(text):
            self._add(Block(BlockKind.SCENE_BREAK))
        else:
            self._add(Block(styled.kind or BlockKind.PARAGRAPH, text, styled.level))

    def _element(self, tag: str, attributes: dict[str, str], types: frozenset[str]) -> _Element:
        classes = attributes.get("class", "")
        silent = (
            tag in _SILENT
            or (tag in _BESIDE if self._web_page else tag == "nav")
            or bool(types & _SILENT_TYPES)
            or bool(_SILENT_CLASS.search(classes))
            or "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or "display:none" in attributes.get("style", "").replace(" ", "").lower()
        )
        outer = self._open[-1] if self._open else _Element("")
        main = outer.main or tag in _MAIN or "main" in types
        element = _Element(tag, outer.silent or silent, outer.kind, outer.level, main)
        if re.fullmatch("h[1-6]", tag):
            element.kind, element.level = BlockKind.HEADING, int(tag[1])
        elif tag == "li":
            element.kind = BlockKind.LIST_ITEM
        elif tag == "blockquote":
            element.kind = BlockKind.QUOTATION
        if _VERSE_CLASS.search(classes):
            element.kind = BlockKind.VERSE
        if tag in ("sup", "a"):
            element.mark = (self._number, len(self._text))
            element.link = tag == "a" and "#" in attributes.get("href", "")
        return element

    def _end_mark(self, element: _Element, start: int) -> None:
        """Drop the text from piece `start` on if it refers to a note; else let a raised number remain raised."""
        text = "".join(self._text[start:])
        around = [element, *self._open]
        linked = any(outer.link for outer in around)
        raised = any(outer.tag == "sup" for outer in around)
        if linked and (_NOTE_MARK if raised else _BRACKETED_MARK).fullmatch(text):
            del self._text[start:]
        elif element.tag == "sup" and _EXPONENT.fullmatch(text):
            self._text[start:] = [text.translate(_RAISED)]

    def _silent(self) -> bool:
        return bool(self._open) and self._open[-1].silent

    def _add(self, block: Block) -> None:
        blocks = self.document.blocks
        if block.kind is BlockKind.SCENE_BREAK and blocks and blocks[-1].kind is BlockKind.SCENE_BREAK:
            return
        blocks.append(block)
        if self._open and self._open[-1].main:
            self.main_blocks.append(block)


_UNSEEN = {0xAD: None, 0x200B: None, 0xFEFF: None, 0xA0: " "}
"""Soft hyphens, zero-width spaces and byte order marks go; a no-break space is a space."""


def _tidy(text: str) -> str:
    text = text.translate(_UNSEEN)
    cells = re.sub(r"\s*\t\s*(?=\S)", ", ", text.strip())
    lines = [" ".join(line.split()) for line in cells.split("\n")]
    return "\n".join(line for line in lines if line)
