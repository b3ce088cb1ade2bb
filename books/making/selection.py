"""Choice of chapters, and the hours in which books may be made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta

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
        found = re.fullmatch(r"\s*(\d*)\s*(-?)\s*(\d*)\s*", part)
        if not found or not (found[1] or found[3]):
            raise BookError(f"{part.strip()!r} is no range of chapters: write 3, 3-9, 3- or -9.")
        first = int(found[1] or 1)
        last = int(found[3] or (len(chapters) if found[2] else first))
        wanted.update(range(first, min(last, len(chapters)) + 1))
    taken = tuple(chapter for number, chapter in enumerate(chapters, 1) if number in wanted)
    if not taken:
        raise BookError(f"The book has {len(chapters)} chapters, and {ranges!r} names none of them.")
    return taken


class Hours:
    """Hours of each day, in local time, such as 01:00-07:00; they may pass midnight."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            BookError: the text isn't two times of day.
        """
        found = re.fullmatch(r"\s*(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})\s*", text)
        try:
            if not found:
                raise ValueError
            self._start, self._end = (time.fromisoformat(each.zfill(5)) for each in found.groups())
        except ValueError:
            raise BookError(f"{text!r} are no hours: write for example 01:00-07:00.") from None

    def closed(self, now: datetime | None = None) -> float:
        """Seconds until the hours begin; 0 within them."""
        now = now or datetime.now()
        clock = now.time()
        inside = self._start <= clock < self._end
        if self._start >= self._end:
            inside = clock >= self._start or clock < self._end
        if inside:
            return 0.0
        begins = datetime.combine(now.date(), self._start)
        if begins <= now:
            begins += timedelta(days=1)
        return (begins - now).total_seconds()
