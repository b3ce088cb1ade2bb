"""Cancellation of a run in progress whose result nobody wants any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """A flag that is set once, from any thread. An engine registers a function that stops its running call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.is_set = False

    def set(self) -> None:
        """Stop the running call and let no other begin. Idempotent."""
        with self._lock:
            self.is_set = True
            if self._stop is not None:
                self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if `set` is called inside the `with` block, or was called before it."""
        with self._lock:
            self._stop = stop
            if self.is_set:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._stop = None
