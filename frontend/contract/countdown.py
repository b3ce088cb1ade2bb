"""A timer of the event loop that can be started again and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Countdown:
    """Calls `act` once its time is over. It belongs to one event loop."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> bool:
        """True from `start` until `act` is called or the countdown is stopped."""
        return self._timer is not None

    def start(self, seconds: float) -> None:
        """Begin to count; a countdown that runs begins again."""
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._over)

    def stop(self) -> None:
        """Drop the call. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self) -> None:
        self._timer = None
        self._act()
