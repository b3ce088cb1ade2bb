"""Reading of a web page that was saved as HTML."""

from __future__ import annotations

from books.book import Book
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.document import read_document
from books.reading.languages import language_tag


def read_html(data: bytes, name: str) -> Book:
    """Read a page: what stands next to its text is left out, and its headings divide it."""
    document = read_document(decode(data), web_page=True)
    title = document.title or name
    chapters = by_divisions(document.blocks, heading_divisions(document.blocks), title)
    return Book(title, tuple(chapters), language=language_tag(document.language))
