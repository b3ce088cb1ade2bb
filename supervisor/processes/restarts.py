"""The rule by which a dead process is started again, or given up as a crash loop."""

from __future__ import annotations

FIRST_BACKOFF = 0.1
MAX_BACKOFF = 5.0


class Restarts:
    """The deaths of one role since a process of it last made progress.

    A crash loop is `max_deaths` such deaths. Once the role has served, they must also last `window` seconds: processes
    killed from outside within a few seconds, before they can do any work, are no crash loop.
    """

    def __init__(self, max_deaths: int, window: float) -> None:
        self._max_deaths = max_deaths
        self._window = window
        self._deaths = 0
        self._first = 0.0

    def after_death(self, now: float, progressed: bool, proven: bool) -> float | None:
        """Seconds to wait before the next start; None if this is a crash loop.

        The next process is started at once after progress, and after the first death without progress, because a client
        may be listening; each further death in a row doubles the wait.

        Args:
            progressed: the process did some of its work (a worker sealed a block, a front answered), or served for
                as long as the window.
            proven: a process of this role has served before.
        """
        if progressed:
            self._deaths = 0
            return 0.0
        if self._deaths == 0:
            self._first = now
        self._deaths += 1
        if self._deaths >= self._max_deaths and (not proven or now - self._first >= self._window):
            return None
        return 0.0 if self._deaths == 1 else min(FIRST_BACKOFF * 2 ** (self._deaths - 2), MAX_BACKOFF)
