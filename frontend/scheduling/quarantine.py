"""Quarantine: segments that killed several workers are not tried again for a while."""

from __future__ import annotations

import time
from collections.abc import Callable


class Quarantine:
    """A set of fingerprints, each kept for `lifetime` seconds, since the engine may have been repaired by then."""

    def __init__(self, lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._until: dict[bytes, float] = {}

    def add(self, key: bytes) -> None:
        self._until.pop(key, None)  # re-inserted last: the set stays ordered by expiry
        self._until[key] = self._clock() + self._lifetime

    def __contains__(self, key: bytes) -> bool:
        self._forget()
        return key in self._until

    def __len__(self) -> int:
        self._forget()
        return len(self._until)

    def _forget(self) -> None:
        now = self._clock()
        while self._until and (first := next(iter(self._until.items())))[1] <= now:
            del self._until[first[0]]
