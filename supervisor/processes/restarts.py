"""The rule by which a dead process is started again: soon, or after minutes if it is in a crash loop."""

from __future__ import annotations

from collections.abc import Sequence

FIRST_BACKOFF = 0.1
MAX_BACKOFF = 5.0
RETRIES = (60.0, 120.0, 300.0, 600.0)
"""Seconds from a crash loop to the first try, and from each failed try to the next; the last ones for ever."""


class Restarts:
    """The deaths of one role since a process of it last made progress.

    A crash loop is `max_deaths` such deaths. Once the role has served, they must also last `window` seconds: processes
    killed from outside within a few seconds, before they can do any work, are no crash loop.
    """

    def __init__(self, max_deaths: int, window: float, tries: Sequence[float] = RETRIES) -> None:
        """`tries`: waits for the tries after a crash loop; none if there are none."""
        self._max_deaths = max_deaths
        self._window = window
        self._deaths = 0
        self._first = 0.0
        self._tries = 0
        """Waits for tries since the last progress."""
        self._waits = tries

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
            self._deaths = self._tries = 0
            return 0.0
        if self._deaths == 0:
            self._first = now
        self._deaths += 1
        if self._deaths >= self._max_deaths and (not proven or now - self._first >= self._window):
            return None
        return 0.0 if self._deaths == 1 else min(FIRST_BACKOFF * 2 ** (self._deaths - 2), MAX_BACKOFF)

    def next_try(self) -> float | None:
        """Seconds to wait before the next start of a role that is in a crash loop, or can't start; None if there is no
        such start."""
        self._tries += 1
        return self._waits[min(self._tries, len(self._waits)) - 1] if self._waits else None

    def begin_again(self) -> None:
        """Let the next failure wait as short as the first one did: somebody may have removed its cause."""
        self._tries = 0
