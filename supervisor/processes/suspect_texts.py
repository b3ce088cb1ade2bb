"""Texts that were in the works when a front died: a text that this happens to twice is refused for a while."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from shm.in_flight import TextsInFlight
from shm.messages import Suspects
from supervisor.processes.provider_failures import OWN_FAULT

log = logging.getLogger(__name__)

MANY = 2
"""Deaths of fronts after which a text is refused."""

REFUSED_FOR = 600.0
"""Seconds. The same time clears a text that is only suspected."""

KEPT = 256
"""Texts under suspicion at a time; a new one drops the oldest."""


@dataclass(frozen=True, slots=True)
class _Suspicion:
    deaths: int
    until: float
    """Monotonic seconds."""


class SuspectTexts:
    """Counts deaths by the text's digest. A text whose answer ended well in between is cleared."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._suspicions: OrderedDict[bytes, _Suspicion] = OrderedDict()

    def front_died(self, texts: TextsInFlight, status: int) -> None:
        """A front has ended that nobody asked to.

        The texts that its threads worked on are suspected. If there are none, and the front did it to itself (a
        signal of its own making, an exit status), any of its texts may have done it. SIGKILL comes from outside.
        """
        by_itself = status > 0 or -status in OWN_FAULT
        for digest in texts.working or (texts.waiting if by_itself else ()):
            before = self._suspicions.pop(digest, None)
            deaths = before.deaths + 1 if before and before.until > self._clock() else 1
            self._suspicions[digest] = _Suspicion(deaths, self._clock() + REFUSED_FOR)
            if deaths == MANY:
                log.error("a text has ended %d fronts: it is refused for %g minutes", deaths, REFUSED_FOR / 60)
        while len(self._suspicions) > KEPT:
            self._suspicions.popitem(last=False)

    def cleared(self, digest: bytes) -> None:
        """A front has answered that text, and lives."""
        self._suspicions.pop(digest, None)

    @property
    def message(self) -> Suspects:
        """For fronts."""
        now = self._clock()
        current = {digest: found for digest, found in self._suspicions.items() if found.until > now}
        return Suspects(
            tuple(digest for digest, found in current.items() if found.deaths < MANY),
            {digest: found.until for digest, found in current.items() if found.deaths >= MANY},
        )
