"""Reading of the text layer of a PDF, by pypdf (the extra `pdf`)."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from books.book import Book, BookError, TextBlock
from books.reading.chapters import Division, by_divisions, heading_divisions
from books.reading.plain import blocks_of_lines
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
