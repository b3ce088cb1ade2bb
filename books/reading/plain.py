"""Reading of plain text."""

from __future__ import annotations

import re

from books.book import Book
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.languages import language_tag
from books.reading.lines import blocks_of_lines

_GUTENBERG_START = re.compile(
    r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*?\*\*\*", re.IGNORECASE | re.DOTALL
)
_GUTENBERG_END = re.compile(
    r"\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK|^End of (?:the )?Project Gutenberg",
    re.IGNORECASE | re.MULTILINE,
)
_FACT = re.compile(r"^(Title|Author|Language):[ \t]*(.+)$", re.MULTILINE)


def read_plain(data: bytes, name: str) -> Book:
    """Read plain text; the licence around a text of Project Gutenberg is left out, and its header gives title and
    author."""
    text = decode(data)
    facts: dict[str, str] = {}
    if start := _GUTENBERG_START.search(text[:20_000]):
        facts = {key: value.strip() for key, value in _FACT.findall(text[: start.start()])}
        text = text[start.end() :]
        if end := _GUTENBERG_END.search(text):
            text = text[: end.start()]
    blocks = blocks_of_lines(text)
    title = facts.get("Title", name)
    language = language_tag(facts.get("Language", ""))
    return Book(title, tuple(by_divisions(blocks, heading_divisions(blocks), title)), facts.get("Author", ""), language)
