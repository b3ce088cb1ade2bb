"""Notices that the machine has slept."""

from __future__ import annotations

import time
from collections.abc import Callable

_LEAST = 2.0
"""Seconds of sleep that count: clocks that are corrected may differ by less."""

_WITH_SLEEP = time.CLOCK_BOOTTIME if hasattr(time, "CLOCK_BOOTTIME") else time.CLOCK_MONOTONIC
"""The clock that runs on during sleep: on Linux CLOCK_BOOTTIME, on macOS CLOCK_MONOTONIC, where Python's own monotonic
clock stands still."""


def seconds_asleep() -> float:
    """Seconds that the machine has slept, since some fixed moment."""
    return time.clock_gettime(_WITH_SLEEP) - time.monotonic()


class SleepWatch:
    """Compares the time asleep between two looks."""

    def __init__(self, asleep: Callable[[], float] = seconds_asleep) -> None:
        self._asleep = asleep
        self._known = asleep()

    def slept(self) -> bool:
        """True if the machine has slept since the last look."""
        known, self._known = self._known, self._asleep()
        return self._known - known > _LEAST
