"""Texts that a front was working on when it died: after two such deaths, a text is rejected for a while."""

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
"""Deaths of fronts after which a text is rejected."""

REFUSED_FOR = 600.0
"""Seconds for which a text is rejected. A suspected text is cleared after the same time."""

KEPT = 256
"""Most texts under suspicion at a time; a new one replaces the oldest."""


@dataclass(frozen=True, slots=True)
class _Suspicion:
    deaths: int
    until: float
    """Monotonic seconds at which the suspicion ends."""


class SuspectTexts:
    """Counts deaths by the text's digest. A text that was answered successfully in between is cleared."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._suspicions: OrderedDict[bytes, _Suspicion] = OrderedDict()

    def front_died(self, texts: TextsInFlight, status: int) -> None:
        """Note that a front has ended unasked.

        The texts on which its threads worked are suspected. If there are none, and the front caused its own end (a
        signal that it raised, an exit status), all texts that waited in it are. SIGKILL comes from outside.
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
        """Clear a text that a front has answered without dying."""
        self._suspicions.pop(digest, None)

    @property
    def message(self) -> Suspects:
        """The suspects message for fronts."""
        now = self._clock()
        current = {digest: found for digest, found in self._suspicions.items() if found.until > now}
        return Suspects(
            tuple(digest for digest, found in current.items() if found.deaths < MANY),
            {digest: found.until for digest, found in current.items() if found.deaths >= MANY},
        )
