"""Reading of any file that a book may come in; web pages and Markdown here, the other kinds in files of their own."""

from __future__ import annotations

import re
from pathlib import PurePath

from markdown_it import MarkdownIt

from books.book import BlockKind, Book, BookError, Chapter, Matter, language_tag
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.document import read_document
from books.reading.epub import read_epub
from books.reading.pdf import read_pdf
from books.reading.plain import read_plain

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


MOST_BYTES = 100 << 20
SUFFIXES = (".epub", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".pdf")
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
    """Read a book from the bytes of an EPUB 2 or 3, an HTML page, Markdown, plain text or a PDF.

    The bytes decide which it is; the name's suffix only tells Markdown and HTML from plain text.

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
        return read_epub(data, name)
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return read_pdf(data, name)
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BookError(f"The file is no text. Books are read from {', '.join(SUFFIXES)}.")
    start = decode(data[:4096]).lstrip().lower()
    if start.startswith("<?xml") and "<fictionbook" in start:
        raise BookError(f"The file is FictionBook. Books are read from {', '.join(SUFFIXES)}.")
    if suffix in (".html", ".htm", ".xhtml") or start.startswith(("<!doctype html", "<html")):
        return read_html(data, name)
    if suffix in (".md", ".markdown"):
        return read_markdown(data, name)
    return read_plain(data, name)
