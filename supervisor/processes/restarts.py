"""When a process that died is started again, and when not: a window on the monotonic clock."""

from __future__ import annotations

from collections import deque

FIRST_BACKOFF = 0.1
MAX_BACKOFF = 5.0


class RestartWindow:
    """The deaths of one service: as many as `max_deaths` within `window` seconds are a crash loop."""

    def __init__(self, max_deaths: int, window: float) -> None:
        self._max_deaths = max_deaths
        self._window = window
        self._deaths: deque[float] = deque()

    def after_death(self, now: float) -> float | None:
        """Seconds to wait before the next start; None if that would be a crash loop.

        The first death in a window costs no wait, because somebody is listening; each further one doubles it.
        """
        while self._deaths and self._deaths[0] <= now - self._window:
            self._deaths.popleft()
        self._deaths.append(now)
        recent = len(self._deaths)
        if recent >= self._max_deaths:
            return None
        return 0.0 if recent == 1 else min(FIRST_BACKOFF * 2 ** (recent - 2), MAX_BACKOFF)
