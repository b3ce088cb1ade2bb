"""A process that reads one file from its standard input and writes its text as JSON: `NAME` is its only argument.

The file is whatever a stranger sent: its reading has limits of memory and of processor time, and its end is nobody
else's.
"""

from __future__ import annotations

import base64
import contextlib
import os
import resource
import sys
from typing import Any

import msgspec

from books.book import BlockKind, Book, BookError
from books.reading.open import read_book

_MOST_MEMORY = 2 << 30
_MOST_SECONDS = 60
_KINDS = {
    BlockKind.HEADING: "h",
    BlockKind.LIST_ITEM: "li",
    BlockKind.QUOTATION: "quote",
    BlockKind.VERSE: "verse",
}


def told(book: Book) -> dict[str, Any]:
    """A book as the page shows it: its body's chapters, each begun by a heading."""
    paragraphs: list[dict[str, str]] = []
    for chapter in book.body:
        blocks = [block for block in chapter.blocks if block.text.strip()]
        begun = bool(blocks) and blocks[0].kind is BlockKind.HEADING
        if len(book.body) > 1:
            title = " ".join((blocks[0].text if begun else chapter.title).split())
            paragraphs.append({"kind": "chapter", "text": title})
            blocks = blocks[begun:]
        paragraphs += [{"kind": _KINDS.get(block.kind, "p"), "text": block.text} for block in blocks]
    cover = book.cover and f"data:{book.cover.media_type};base64,{base64.b64encode(book.cover.data).decode()}"
    facts = {"title": book.title, "author": book.author, "language": book.language, "cover": cover or ""}
    return {**facts, "paragraphs": paragraphs}


def main() -> None:
    """Read, and write the text; or the reason why it can't be read, with the exit status 2."""
    with contextlib.suppress(ValueError, OSError):  # a lower limit is there already
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    answer, status = _answer(sys.argv[1])
    with open(sys.stdout.fileno(), "wb", closefd=False) as out:
        out.write(answer)
    os._exit(status)  # a large book's objects needn't be taken apart


def _answer(name: str) -> tuple[bytes, int]:
    try:
        return msgspec.json.encode(told(read_book(sys.stdin.buffer.read(), name))), 0
    except BookError as error:
        return str(error).encode(errors="replace"), 2
    except MemoryError:
        return b"The file takes too much memory to read.", 2


if __name__ == "__main__":
    main()
