"""Control of an utterance's runs from another thread: cancelled for good, or paused and then run again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RunControl:
    """A run that is cancelled or paused is stopped in its middle: the engine registers a function that does it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._stop: Callable[[], None] | None = None
        self._paused_until = 0.0
        self.is_cancelled = False
        self.paused_seconds = 0.0
        """Seconds that the inference thread has waited in pauses."""

    def cancel(self) -> None:
        """Stop the present run and let no other begin. Idempotent."""
        with self._changed:
            self.is_cancelled = True
            self._stop_run()

    def pause(self, until: float) -> None:
        """Stop the present run; it begins again after `resume`, at the latest at `until` (monotonic seconds)."""
        with self._changed:
            self._paused_until = until
            self._stop_run()

    def resume(self) -> None:
        """End a pause. Idempotent."""
        with self._changed:
            self._paused_until = 0.0
            self._changed.notify_all()

    @property
    def is_paused(self) -> bool:
        """True if the utterance's next run waits."""
        return not self.is_cancelled and time.monotonic() < self._paused_until

    def wait_while_paused(self) -> None:
        """Wait in the inference thread until the pause has ended or the utterance is cancelled."""
        started = time.monotonic()
        with self._changed:
            while self.is_paused:
                self._changed.wait(min(self._paused_until - time.monotonic(), threading.TIMEOUT_MAX))
        self.paused_seconds += time.monotonic() - started

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if the utterance is cancelled or paused inside the `with` block, or was so before it."""
        with self._changed:
            self._stop = stop
            if self.is_cancelled or self.is_paused:
                stop()
        try:
            yield
        finally:
            with self._changed:
                self._stop = None

    def _stop_run(self) -> None:
        if self._stop is not None:
            self._stop()
        self._changed.notify_all()
