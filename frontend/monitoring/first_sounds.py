"""First sounds of the last hour, by minute."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable

from frontend.monitoring.report import FirstSounds

_HOUR = 3600.0
_MOST = 10_000
"""First sounds that are kept; those of a busier hour begin later."""


class RecentFirstSounds:
    """How long listeners waited of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: deque[tuple[float, float]] = deque(maxlen=_MOST)

    def add(self, seconds: float) -> None:
        """Note that a listener heard the first sound now, after `seconds`."""
        self._heard.append((self._clock(), seconds))

    def by_minute(self) -> list[FirstSounds]:
        """Each minute of the last hour in which something was heard, the oldest first."""
        now = self._clock()
        minutes: dict[int, list[float]] = {}
        for moment, seconds in self._heard:
            if now - moment < _HOUR:
                minutes.setdefault(int((now - moment) / 60), []).append(seconds)
        return [
            FirstSounds(ago, len(found), round(statistics.median(found), 3), round(max(found), 3))
            for ago, found in minutes.items()
        ]
