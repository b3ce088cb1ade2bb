"""Hours of the day in which books may be made."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta


class Hours:
    """Hours of each day, in local time, such as 01:00-07:00; they may pass midnight."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            ValueError: the text isn't two times of day.
        """
        found = re.fullmatch(r"\s*(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})\s*", text)
        try:
            if not found:
                raise ValueError
            self._start, self._end = (_time(each) for each in found.groups())
        except ValueError:
            raise ValueError(f"{text!r} are no hours: write for example 01:00-07:00.") from None

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


def _time(text: str) -> time:
    """A time of day; 24:00 is midnight, as ISO 8601 has it."""
    return time() if text == "24:00" else time.fromisoformat(text.zfill(5))
