"""Tells a run that is under way that nobody wants its result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """Set once, from any thread. An engine registers how its running call is stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.is_set = False

    def set(self) -> None:
        """Stop what runs, and let nothing begin. Idempotent."""
        with self._lock:
            self.is_set = True
            if self._stop is not None:
                self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """While the block runs, `set` calls `stop`; at once, if it was set before."""
        with self._lock:
            self._stop = stop
            if self.is_set:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._stop = None
