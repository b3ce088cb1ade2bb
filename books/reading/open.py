"""Reading of any file that a book may come in: web pages, Markdown, Word's and OpenDocument's texts, and PDFs (their
text layer, by pypdf, the extra `pdf`) here; EPUBs, plain text and captions in files of their own."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from markdown_it import MarkdownIt

from books.book import BlockKind, Book, BookError, Chapter, Matter, TextBlock, language_tag
from books.reading.archive import Archive, parse_xml
from books.reading.chapters import Division, by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.document import read_document
from books.reading.epub import read_epub
from books.reading.plain import blocks_of_lines, is_captions, read_captions, read_plain
from kokoro_live.installation import this_installation

MOST_PAGES = 5_000
_EDGE = 2
"""Lines at a page's top and bottom that may be running heads."""
_PAGE_NUMBER = re.compile(
    r"[\s\-–—|]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?[\s\-–—|]*", re.IGNORECASE
)
_DEEPEST = 50


def read_pdf(data: bytes, name: str) -> Book:
    """Read a PDF's text: outlines divide it into chapters, else headings; page numbers, running heads and hyphens at
    line ends go.

    Raises:
        BookError: pypdf is not installed; the file is damaged or encrypted; it has no text.
    """
    try:
        import pypdf
    except ImportError as error:
        raise BookError(f"PDF needs the extra pdf: {this_installation().add('pdf')}") from error
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BookError("The PDF is encrypted: it needs a password.")
        if len(reader.pages) > MOST_PAGES:
            raise BookError(f"The PDF has {len(reader.pages)} pages; at most {MOST_PAGES} are read.")
        pages = [_whole(page.extract_text()).split("\n") for page in reader.pages]
        outline = list(_outline(reader, reader.outline))
        facts = reader.metadata
        title = " ".join(_whole(str((facts and facts.title) or name)).split())
        author = " ".join(_whole(str((facts and facts.author) or "")).split())
    except BookError:
        raise
    except Exception as error:  # pypdf raises whatever a damaged file makes it meet
        raise BookError(f"The PDF can't be read: {error or type(error).__name__}.") from error
    blocks, starts = _blocks(without_furniture(pages))
    if not blocks:
        raise BookError("The PDF has no text layer: its pages are pictures. Run it through OCR first.")
    divisions = [Division(starts[page], title, depth) for title, page, depth in outline if page < len(starts)]
    return Book(title, tuple(by_divisions(blocks, divisions or heading_divisions(blocks), title)), author)


def _outline(reader: Any, entries: Sequence[Any], depth: int = 0) -> Any:
    for entry in entries:
        if isinstance(entry, list):
            if depth < _DEEPEST:
                yield from _outline(reader, entry, depth + 1)
        elif (page := reader.get_destination_page_number(entry)) is not None:
            yield _whole(str(entry.title)), page, depth


def _whole(text: str) -> str:
    """The text with halves of surrogate pairs, as pypdf gives them, joined or as U+FFFD: no file can be written with
    them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_furniture(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Pages' lines without page numbers and running heads: lines at the edges that at least three pages share, digits
    aside."""
    kept = [[line for line in page if line.strip()] for page in pages]
    seen = Counter(shape for page in kept for shape in {_shape(line) for line in page[:_EDGE] + page[-_EDGE:]})
    for page in kept:
        for at, edge in ((0, _EDGE), (-1, _EDGE)):
            for _ in range(edge):
                if page and (_PAGE_NUMBER.fullmatch(page[at]) or (seen[_shape(page[at])] >= 3 and len(pages) >= 3)):
                    page.pop(at)
    return kept


def _shape(line: str) -> str:
    return re.sub(r"\d+", "0", " ".join(line.split())).casefold()


def _blocks(pages: Sequence[Sequence[str]]) -> tuple[list[TextBlock], list[int]]:
    """Blocks of the text, and the index of the first block of each page."""
    blocks: list[TextBlock] = []
    starts = []
    carried = ""
    for page in pages:
        starts.append(len(blocks))
        paragraphs = _paragraphs([carried, *page] if carried else page)
        carried = ""
        # A page that ends within a sentence goes on on the next.
        if paragraphs and not re.search(r"[.!?:…\"”’»)]\s*$", paragraphs[-1]) and page is not pages[-1]:
            carried = paragraphs.pop()
        blocks += blocks_of_lines("\n\n".join(paragraphs))
    return blocks, starts


def _paragraphs(lines: Sequence[str]) -> list[str]:
    """Lines grouped into paragraphs: a line much shorter than the page's width ends a paragraph if it ends a
    sentence, and one of less than half the width always does.
    """
    width = max((len(line) for line in lines), default=0)
    groups: list[list[str]] = [[]]
    for line in lines:
        groups[-1].append(line)
        if (len(line) < 0.8 * width and re.search(r"[.!?:…\"”’»)]\s*$", line)) or len(line) < 0.45 * width:
            groups.append([])
    return ["\n".join(group) for group in groups if group]


_FACTS = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_FACT = re.compile(r"""^(title|author|lang|language):[ \t]*["']?(.*?)["']?[ \t]*$""", re.MULTILINE | re.IGNORECASE)
_NOTE = re.compile(r"^\[\^[^\]\n]+\]:.*(?:\n(?:[ \t]+.*|[ \t]*(?=\n[ \t]+\S)))*", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")


def read_markdown(data: bytes, name: str) -> Book:
    """Read Markdown: chapters are its headings of the outermost level that occurs twice; notes are left out; `title`,
    `author` and `lang` before the text (between lines of `---`) are the book's.
    """
    text = decode(data).replace("\r\n", "\n")
    facts: dict[str, str] = {}
    if found := _FACTS.match(text):
        facts = {key.lower(): value for key, value in _FACT.findall(found[1])}
        text = text[found.end() :]
    text = _NOTE_MARK.sub("", _NOTE.sub("", text))
    blocks = read_document(MarkdownIt("commonmark", {"html": True}).enable("table").render(text)).blocks
    first = next((block for block in blocks if block.kind is BlockKind.HEADING), None)
    only = first and sum(block.kind is BlockKind.HEADING and block.level <= first.level for block in blocks) == 1
    title = facts.get("title") or (" ".join(first.text.split()) if first and only and blocks[0] is first else name)
    chapters = by_divisions(blocks, heading_divisions(blocks), title)
    return Book(
        title, tuple(chapters), facts.get("author", ""), language_tag(facts.get("lang") or facts.get("language", ""))
    )


def read_html(data: bytes, name: str) -> Book:
    """Read a page: what stands next to its text is left out, and its headings divide it."""
    document = read_document(decode(data), web_page=True)
    title = document.title or name
    chapters = by_divisions(document.blocks, heading_divisions(document.blocks), title)
    return Book(title, tuple(chapters), language=language_tag(document.language))


# Word's and OpenDocument's texts, as HTML of their headings, paragraphs, lists and tables.

WORD_TEXT, OPEN_TEXT = "word/document.xml", "content.xml"
"""The members of the archives that have the text."""
_MOST_DEEP = 100
_LEFT_OUT = {"annotation", "annotation-end", "note", "tracked-changes", "table-of-content", "sequence-decls", "forms"}
_LISTED = re.compile(r"list (?:bullet|number|paragraph)", re.IGNORECASE)
_HEADING = re.compile(r"(?:heading (\d)|title)", re.IGNORECASE)


def read_word(archive: Archive, name: str) -> Book:
    """Read a Word document (.docx). What was deleted with changes tracked, comments and notes are left out.

    Raises:
        BookError: it is damaged.
    """
    styles = dict(_word_styles(archive))
    body = parse_xml(archive.read(WORD_TEXT), WORD_TEXT)
    for table in body.iter():
        if _local(table) == "tbl":
            _name_headings(table, "tc", [row for row in table if _local(row) == "tr"][: _word_headings(table)])
    return _book_of_html("".join(_word(body, styles, 0)), archive, "docProps/core.xml", name)


def read_open_text(archive: Archive, name: str) -> Book:
    """Read an OpenDocument text (.odt).

    Raises:
        BookError: it is damaged or encrypted.
    """
    body = parse_xml(archive.read(OPEN_TEXT), OPEN_TEXT)
    for table in body.iter():
        if _local(table) == "table-header-rows":
            _name_headings(table, "table-cell", table)
    return _book_of_html("".join(_open_text(body, 0)), archive, "meta.xml", name)


def _book_of_html(html: str, archive: Archive, facts: str, name: str) -> Book:
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


def _word_styles(archive: Archive) -> Iterator[tuple[str, str]]:
    """Names of Word's styles, which are English in every language, by their identifiers, which aren't."""
    if "word/styles.xml" in archive:
        for style in parse_xml(archive.read("word/styles.xml"), "word/styles.xml"):
            named = next((_value(each, "val") for each in style if _local(each) == "name"), "")
            yield _value(style, "styleId"), named


def _name_headings(table: Any, cell: str, rows: Iterable[Any]) -> None:
    for row in rows:
        for each in row:
            if _local(each) == cell:
                each.tag = "th"


def _word_headings(table: Any) -> int:
    """Number of the first rows that have the columns' headings, 0 or 1."""
    for each in table.iter():
        bits = int(_value(each, "val"), 16) if _HEX.fullmatch(_value(each, "val")) else 0
        chosen = _value(each, "firstRow") in ("1", "true", "on") or bits & _FIRST_ROW
        if _local(each) == "tblHeader" or (_local(each) == "tblLook" and chosen):
            return 1
    return 0


_HEX = re.compile(r"[0-9A-Fa-f]{1,8}")
_FIRST_ROW = 0x20
"""The bit of `tblLook` for a first row of headings, in files older than its attribute of that name."""


def _shown(tag: str, inner: str) -> str:
    if tag in ("td", "th"):  # a row is one line
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
        tag in ("del", "moveFrom", "Fallback", "footnoteReference", "endnoteReference", "instrText")
        or depth > _MOST_DEEP
    ):
        return
    else:
        shown = _word_tag(element, tag, styles)
        inner = "".join(part for child in element for part in _word(child, styles, depth + 1))
        yield _shown(shown, inner)


def _word_tag(element: Any, tag: str, styles: dict[str, str]) -> str:
    if tag != "p":
        return {"tbl": "table", "tr": "tr", "tc": "td", "th": "th"}.get(tag, "")
    properties = next((each for each in element if _local(each) == "pPr"), ())
    style = next((_value(each, "val") for each in properties if _local(each) == "pStyle"), "")
    named = styles.get(style, style)
    if heading := _HEADING.fullmatch(named):
        return f"h{min(6, int(heading[1] or 1))}"
    listed = _LISTED.match(named) or any(_local(each) == "numPr" for each in properties)
    return "li" if listed else "p"


_OPEN_TAGS = {
    "table-row": "tr",
    "table-cell": "td",
    **{each: each for each in ("p", "table", "th", "span")},
    "list-item": "li",
}


def _open_text(element: Any, depth: int) -> Iterator[str]:
    tag = _local(element)
    if tag in ("line-break", "tab", "s"):
        yield "<br>" if tag == "line-break" else " "
    elif tag not in _LEFT_OUT and depth <= _MOST_DEEP:
        level = _value(element, "outline-level")
        shown = f"h{min(6, int(level) if level.isdecimal() and level.isascii() else 1) or 1}" if tag == "h" else ""
        shown = shown or _OPEN_TAGS.get(tag, "")
        within = tag in ("p", "h", "span", "a")
        parts = [escape(element.text or "")] if within else []
        for child in element:
            parts += _open_text(child, depth + 1)
            parts += [escape(child.tail or "")] if within else []
        yield _shown(shown, "".join(parts))


MOST_BYTES = 100 << 20
SUFFIXES = (".epub", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".pdf", ".docx", ".odt", ".srt", ".vtt")
_OTHERS = {
    b"{\\rtf": "RTF",
    b"\xd0\xcf\x11\xe0": "an old Word document",
    b"BOOKMOBI": "a Kindle book (MOBI)",
    b"\x7fELF": "a program",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"ITSF": "a CHM file",
    b"AT&TFORM": "DjVu",
}


def read_book(data: bytes, file_name: str) -> Book:
    """Read a book from the bytes of an EPUB 2 or 3, an HTML page, Markdown, plain text, a PDF, a Word or
    OpenDocument text, or captions.

    The bytes decide which it is; the name's suffix only tells Markdown, HTML and captions from plain text.

    Raises:
        BookError: the file is of another kind, is damaged, too large, encrypted, or has no text to speak.
    """
    # A name in another encoding than the system's has surrogates, which no file can be written with.
    name = PurePath(file_name.encode(errors="replace").decode()).stem or "Book"
    if len(data) > MOST_BYTES:
        raise BookError(f"The file has {len(data) >> 20} MB; at most {MOST_BYTES >> 20} MB are read.")
    book = _read(data, PurePath(file_name).suffix.lower(), name)
    if not any(chapter.words for chapter in book.chapters):
        raise BookError("The file has no text to speak.")
    if not book.body:
        # A leaflet whose only chapter is named "Contents" is spoken all the same.
        chapters = tuple(Chapter(each.title, each.blocks, Matter.BODY) for each in book.chapters)
        book = Book(book.title, chapters, book.author, book.language, book.cover)
    return book


def _read(data: bytes, suffix: str, name: str) -> Book:
    for magic, kind in _OTHERS.items():
        if data.startswith(magic) or (magic == b"BOOKMOBI" and data[60:68] == magic):
            raise BookError(f"The file is {kind}. Books are read from {', '.join(SUFFIXES)}.")
    if data.startswith(b"PK"):
        return _read_archive(Archive(data), name)
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return read_pdf(data, name)
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BookError(f"The file is no text. Books are read from {', '.join(SUFFIXES)}.")
    start = decode(data[:4096]).lstrip().lower()
    if start.startswith("<?xml") and "<fictionbook" in start:
        raise BookError(f"The file is FictionBook. Books are read from {', '.join(SUFFIXES)}.")
    if suffix in (".srt", ".vtt") or is_captions(start.upper()):
        return read_captions(data, name)
    if suffix in (".html", ".htm", ".xhtml") or start.startswith(("<!doctype html", "<html")):
        return read_html(data, name)
    if suffix in (".md", ".markdown"):
        return read_markdown(data, name)
    return read_plain(data, name)


def _read_archive(archive: Archive, name: str) -> Book:
    if WORD_TEXT in archive:
        return read_word(archive, name)
    if OPEN_TEXT in archive and "META-INF/container.xml" not in archive:
        return read_open_text(archive, name)
    return read_epub(archive, name)
