"""An imitated machine that sleeps, for the event loop of the processes that keep deadlines."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shm.awake_loop import AwakeLoop, _Selector

HOURS = 7200.0


class Machine:
    """A clock that passes only while the loop waits, and jumps once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.waits = 0
        """Waits of the last run."""
        self._sleeps_at = 0
        monkeypatch.setattr(_Selector, "_wait", self._wait)

    def _wait(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nobody waits for anything"
        self.now += max(timeout, 0.0)
        self.waits += 1
        if self.waits == self._sleeps_at:
            self.now += HOURS
        return []

    def run(self, main: Callable[[], Awaitable[Any]], sleeps_at: int = 0) -> float:
        """Run it on a fresh loop; returns the seconds that it took, without the sleep.

        `sleeps_at`: number of the wait in which the machine sleeps for hours; 0 for none.
        """
        start, self.waits, self._sleeps_at = self.now, 0, sleeps_at
        with asyncio.Runner(loop_factory=lambda: AwakeLoop(lambda: self.now)) as runner:
            runner.run(_awaited(main))
        return self.now - start - self.slept

    @property
    def slept(self) -> float:
        """Seconds that the machine has slept in this run."""
        return HOURS if 0 < self._sleeps_at <= self.waits else 0.0


async def _awaited(main: Callable[[], Awaitable[Any]]) -> None:
    await main()
