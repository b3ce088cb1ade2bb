"""Choice of chapters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from books.book import Chapter
from books.errors import BookError


def chosen(chapters: Sequence[Chapter], ranges: str) -> tuple[Chapter, ...]:
    """Chapters of a list such as "3-9" or "1,4-", numbered from 1; all for an empty one.

    Raises:
        BookError: that is no such list, or it names none of the chapters.
    """
    if not ranges.strip():
        return tuple(chapters)
    wanted: set[int] = set()
    for part in ranges.split(","):
        found = re.fullmatch(r"\s*+(\d*+)\s*+(-?)\s*+(\d*+)\s*+", part)
        if not found or not (found[1] or found[3]):
            raise BookError(f"{part.strip()!r} is no range of chapters: write 3, 3-9, 3- or -9.")
        first = int(found[1] or 1)
        last = int(found[3] or (len(chapters) if found[2] else first))
        wanted.update(range(first, min(last, len(chapters)) + 1))
    taken = tuple(chapter for number, chapter in enumerate(chapters, 1) if number in wanted)
    if not taken:
        raise BookError(f"The book has {len(chapters)} chapters, and {ranges!r} names none of them.")
    return taken
