"""Reading of Markdown, with YAML-like facts before it."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from books.book import BlockKind, Book
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.document import read_document
from books.reading.languages import language_tag

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
