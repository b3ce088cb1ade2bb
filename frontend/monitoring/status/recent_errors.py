"""The last requests that failed on the server's side: time, request and kind of error; never their text."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from frontend.monitoring.status.report import RecentError

KEPT = 20


class RecentErrors:
    """The latest errors of this front."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix time."""
        self._clock = clock
        self._errors: deque[RecentError] = deque(maxlen=KEPT)

    def add(self, request_id: str, kind: str) -> None:
        """`kind` is an error's code, or a status."""
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        self._errors.append(RecentError(at, request_id, kind))

    def latest(self) -> list[RecentError]:
        """The latest errors, the newest first."""
        return list(reversed(self._errors))
