"""Blocks of text of one HTML or XHTML document, with the places that links into it name.

The parser is the standard library's lenient one: books are made by hand and by many programs, and it expands no
entities but HTML's own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from books.book import BlockKind, BookError, TextBlock
from books.reading.decoding import prepared


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT = _names(
    "script style template noscript svg math audio video canvas object iframe button form select textarea dialog "
    "rt rtc rp figure img title epub:case pagenum noteref note annoref prodnote"
)
"""Elements whose text isn't spoken; the last five are DTBook's. A picture's caption is of no use without the picture,
and `epub:case` has a form of its text that few programs show."""
BESIDE = frozenset({"nav", "footer", "aside", "header", "menu"})
"""Elements of a web page that stand next to its text."""
MAIN = frozenset({"article", "main"})
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
BLOCKS = _names(
    "address article aside blockquote body center caption dd details div dl dt fieldset footer h1 h2 h3 h4 h5 h6 "
    "header hgroup hr li main menu nav ol p pre section summary table tbody tfoot thead tr ul"
)
CELLS = frozenset({"td", "th"})
ENDED_BY = {
    **dict.fromkeys(BLOCKS, frozenset({"p"})),
    "a": frozenset({"a"}),
    "li": frozenset({"li", "p"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd", "p"})),
    **dict.fromkeys(CELLS, frozenset({*CELLS, "p"})),
    **dict.fromkeys(("tr", "tbody", "tfoot"), frozenset({"tr", *CELLS, "p"})),
}
"""Elements that begin, with those that end before them where a maker left their end tags out."""
SILENT_TYPES = _names(
    "footnote footnotes endnote endnotes rearnote rearnotes note noteref pagebreak page-list doc-footnote "
    "doc-endnote doc-endnotes doc-noteref doc-pagebreak doc-backlink backlink"
)
"""Values of `epub:type` and `role` of notes, of the marks that refer to them, and of the printed edition's page
numbers."""
SILENT_CLASS = re.compile(
    r"(?:^|[\s_-])(?:page-?(?:num(?:ber)?|no)|(?:run(?:ning)?-?(?:head(?:er)?|foot(?:er)?|title))|"
    r"(?:foot|end)note(?:-?(?:ref(?:erence)?|text|anchor|mark))?|fn-?(?:anchor|ref)|note-?(?:ref|anchor)|"
    r"_?id(?:Foot|End)note(?:Link|Anchor|s)?|Mso(?:Foot|End)note(?:Text|Reference))s?(?:$|[\s_-])",
    re.I,
)
"""Classes of notes, of the marks that refer to them, of page numbers and of running heads, InDesign's and Word's among
them."""
PAGE_CLASS = re.compile(r"(?:^|[\s_-])page-?break(?:$|\s)", re.I)
"""Classes of elements before which a page ends. Some contain the page's number, some a whole chapter."""
PAGE_NUMBER = re.compile(r"\W*(?:p(?:g|age)?\.?\s*)?(?:\d{1,5}|[ivxlc]{1,8})\W*", re.I)
VERSE_CLASS = re.compile(r"(?:^|[\s_-])(?:verse|poem|poetry|stanza|line-?group)(?:$|[\s_-])", re.I)
NOTE_MARK = re.compile(
    r"\s*(?:[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]|\d{1,4}|\*{1,3}|[†‡§¶]{1,3})\s*", re.I
)
BRACKETED_MARK = re.compile(r"\s*[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]\s*", re.I)
EXPONENT = re.compile(r"[\d+\-−]{1,6}")
RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_ORNAMENTS = frozenset("*•·⁂∗✻✽❦☙❧◆◇■□●○~#=_+—–―-")


def is_ornament(text: str) -> bool:
    """True for a line without a letter or digit between two scenes, such as "* * *"."""
    letters = set(text)
    return bool(letters & _ORNAMENTS) and all(each in _ORNAMENTS or each == "." or each.isspace() for each in letters)


_DEEPEST = 20_000
"""Open elements that are followed. Deeper ones are those of a generator gone wild, and their text is kept."""
_MOST_TYPES = 50
_MOST_ANCHORS = 200_000
MOST_BLOCKS = 500_000
"""Paragraphs that are read. The longest books have far fewer."""
_LONGEST_TITLE = 500
_LONGEST_MARK = 30
"""Characters and pieces of text of what may be the mark of a note or a page's number."""
_NEAR = 20
"""Open elements among which one is looked for whose end tag is left out."""


@dataclass(slots=True)
class Document:
    blocks: list[TextBlock] = field(default_factory=list)
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
    """True within a link to a place."""
    raised: bool = False
    """True within a superscript."""
    page: bool = False
    """True where a page of the printed edition ends: a number that stands there alone isn't spoken."""


@dataclass(slots=True)
class _Table:
    headings: list[str] = field(default_factory=list)
    """Texts of the first row's cells."""
    heads: int = 0
    """Number of them that are headings."""
    rows: int = 0
    column: int = -1

    @property
    def headed(self) -> bool:
        """True if rows are read with the headings: of two columns, the first has them."""
        return self.heads > 2

    @property
    def heading(self) -> str:
        """Text before the cell at hand; the first one is what the row is about."""
        if self.rows < 2 or not self.headed or not 0 < self.column < len(self.headings):
            return ""
        text = " ".join(self.headings[self.column].split())
        return f"{text}: " if 0 < len(text) <= _LONGEST_HEADING else ""


_LONGEST_HEADING = 80
"""Characters of a column's heading that is repeated in each row."""


def read_document(text: str, web_page: bool = False) -> Document:
    """Parse a document. Any text is accepted, and the work is linear in its length.

    Args:
        web_page: leave out all but the page's text: its navigation, header and footer, and all that is outside
            `<article>` or `<main>` if the page has one with text.

    Raises:
        BookError: it has more than `MOST_BLOCKS` paragraphs.
    """
    parser = _Parser(web_page)
    parser.feed(prepared(text))
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
        self.main_blocks: list[TextBlock] = []
        self._web_page = web_page
        self._open: list[_Element] = []
        self._text: list[str] = []
        self._in_title = False
        self._tags: Counter[str] = Counter()
        """Numbers of open elements of each name."""
        self._number = 0
        """Number of the block whose text is gathered."""
        self._tables: list[_Table] = []
        self._heading = ""
        """The heading of the cell that has begun, until it has text."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self._in_title = tag == "title" and not self.document.title and not self._tags["svg"]
        self._end_implied(tag)
        if tag in BLOCKS:
            self._border(tag)
        self._begin_in_table(tag)
        for name in ("id", "name"):
            if name in attributes and (name == "id" or tag == "a") and len(self.document.anchors) < _MOST_ANCHORS:
                self.document.anchors.setdefault(attributes[name], len(self.document.blocks))
        if tag == "br":
            self._text.append("\n")
        elif (
            tag == "img" and len(attributes.get("alt", "")) == 1 and attributes["alt"].isalpha() and not self._silent()
        ):
            self._text.append(attributes["alt"])  # a chapter's first letter, as a picture
        elif tag == "hr" and not self._silent():
            self._add(TextBlock(BlockKind.SCENE_BREAK))
        if tag == "html":
            self.document.language = attributes.get("lang") or attributes.get("xml:lang", "")
        types = frozenset(f"{attributes.get('epub:type', '')} {attributes.get('role', '')}".lower().split())
        if tag not in VOID and len(self._open) < _DEEPEST:
            self._open.append(self._element(tag, attributes, types))
            self._tags[tag] += 1
        if types and not self.document.blocks and not self._silent() and len(self.document.types) < _MOST_TYPES:
            self.document.types |= types

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._tags[tag]:
            return
        if tag in BLOCKS:
            self._border(tag)
        elif tag in CELLS and self._text and not self._silent():
            self._text.append("\t")
        while self._open:
            element = self._open.pop()
            self._tags[element.tag] -= 1
            if element.tag in ("tr", *CELLS):
                self._heading = ""
            elif element.tag == "table":
                self._tables.pop()
            if element.mark and element.mark[0] == self._number:
                self._end_mark(element, element.mark[1])
            if element.tag == tag:
                break

    def _end_implied(self, tag: str) -> None:
        """Close the elements whose end tags HTML makes optional before this tag."""
        ended = ENDED_BY.get(tag)
        if not ended or not any(self._tags[name] for name in ended):
            return
        outermost = ""
        for place in range(len(self._open) - 1, max(len(self._open) - _NEAR, 0) - 1, -1):
            name = self._open[place].tag
            if name in ended:
                outermost = name
            elif name in BLOCKS:
                break
        if outermost:
            self.handle_endtag(outermost)

    def handle_data(self, data: str) -> None:
        if self._in_title and len(self.document.title) < _LONGEST_TITLE:
            self.document.title = " ".join(f"{self.document.title}{data}".split())
        if not self._silent():
            if self._heading and data.strip():
                self._text.append(self._heading)
                self._heading = ""
            if self._tables and self._tables[-1].rows == 1 and self._tables[-1].headings:
                self._tables[-1].headings[-1] += data
            self._text.append(data if self._tags["pre"] else re.sub(r"\s+", " ", data))

    def _begin_in_table(self, tag: str) -> None:
        if tag == "table" and len(self._open) < _DEEPEST:
            self._tables.append(_Table())
        elif self._tables and tag == "tr":
            self._tables[-1].rows += 1
            self._tables[-1].column = -1
        elif self._tables and tag in CELLS:
            table = self._tables[-1]
            table.column += 1
            if table.rows == 1:
                table.headings.append("")
                table.heads += tag == "th"
            self._heading = table.heading

    def _border(self, tag: str) -> None:
        """End the block at hand, unless that is a row of a table with headings, which is one line."""
        if (
            tag in ("p", "div")
            and self._tables
            and (self._tags["th"] or (self._tables[-1].headed and self._tags["td"]))
        ):
            self._text.append(" ")
        else:
            self.end_block()

    def end_block(self) -> None:
        """Make a block of the text since the last one."""
        text = _tidy("".join(self._text))
        self._text.clear()
        self._number += 1
        if not text:
            return
        styled = self._open[-1] if self._open else _Element("")
        if styled.page and len(text) <= _LONGEST_MARK and PAGE_NUMBER.fullmatch(text):
            return
        if is_ornament(text):
            self._add(TextBlock(BlockKind.SCENE_BREAK))
        else:
            self._add(TextBlock(styled.kind or BlockKind.PARAGRAPH, text, styled.level))

    def _element(self, tag: str, attributes: dict[str, str], types: frozenset[str]) -> _Element:
        classes = attributes.get("class", "")
        silent = (
            tag in SILENT
            or (tag in BESIDE if self._web_page else tag == "nav")
            or bool(types & SILENT_TYPES)
            or bool(SILENT_CLASS.search(classes))
            or "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or "display:none" in attributes.get("style", "").replace(" ", "").lower()
        )
        outer = self._open[-1] if self._open else _Element("")
        main = outer.main or tag in MAIN or "main" in types
        element = _Element(tag, outer.silent or silent, outer.kind, outer.level, main)
        element.link = outer.link or (tag == "a" and "#" in attributes.get("href", ""))
        element.raised = outer.raised or tag == "sup"
        if re.fullmatch("h[1-6]", tag):
            element.kind, element.level = BlockKind.HEADING, int(tag[1])
        elif tag == "li":
            element.kind = BlockKind.LIST_ITEM
        elif tag == "blockquote":
            element.kind = BlockKind.QUOTATION
        if VERSE_CLASS.search(classes):
            element.kind = BlockKind.VERSE
        element.page = element.kind is not BlockKind.HEADING and (
            bool(PAGE_CLASS.search(classes)) or (outer.page and tag not in BLOCKS)
        )
        if tag in ("sup", "a") or element.page:
            element.mark = (self._number, len(self._text))
        return element

    def _end_mark(self, element: _Element, start: int) -> None:
        """Drop the text from piece `start` on if it refers to a note or numbers a page; else let a raised number remain
        raised."""
        text = "".join(self._text[start : start + _LONGEST_MARK])
        if len(text) > _LONGEST_MARK or len(self._text) - start > _LONGEST_MARK:
            return
        note = element.link and (NOTE_MARK if element.raised else BRACKETED_MARK).fullmatch(text)
        if note or (element.page and PAGE_NUMBER.fullmatch(text)):
            del self._text[start:]
        elif element.tag == "sup" and EXPONENT.fullmatch(text):
            self._text[start:] = [text.translate(RAISED)]

    def _silent(self) -> bool:
        return bool(self._open) and self._open[-1].silent

    def _add(self, block: TextBlock) -> None:
        blocks = self.document.blocks
        if block.kind is BlockKind.SCENE_BREAK and blocks and blocks[-1].kind is BlockKind.SCENE_BREAK:
            return
        if len(blocks) >= MOST_BLOCKS:
            raise BookError(f"The text has more than {MOST_BLOCKS} paragraphs, which is taken for an attack.")
        blocks.append(block)
        if self._open and self._open[-1].main:
            self.main_blocks.append(block)


_UNSEEN = {0xAD: None, 0x200B: None, 0xFEFF: None, 0xA0: " "}
"""Soft hyphens, zero-width spaces and byte order marks go; a no-break space is a space."""


def _tidy(text: str) -> str:
    text = text.translate(_UNSEEN)
    cells = ", ".join(filter(None, (cell.strip() for cell in text.split("\t"))))
    lines = [" ".join(line.split()) for line in cells.split("\n")]
    return "\n".join(line for line in lines if line)
