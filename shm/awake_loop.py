"""An event loop whose clock leaves out the time in which its process didn't run.

A machine that sleeps, a virtual machine that is paused and a process that is stopped lose minutes or hours at once, and
so do the processes at the other ends of all connections. On an ordinary loop each deadline would have passed then: of
clients that read slowly, of idle connections, of a worker that is watched. Here every deadline of the loop
(`call_later`, `asyncio.timeout`, and all that aiohttp makes of them) is as far away as it was before.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

LATE = 1.0
"""Seconds by which a loop may be late because the machine is busy; longer delays are left out."""

Result = TypeVar("Result")


class _Selector(selectors.DefaultSelector):
    """Notices a wait that took longer than was asked for, and work between two waits that took more time than processor
    time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.lost = 0.0
        """Seconds in which the process didn't run."""
        self._clock = clock
        self._returned: tuple[float, float] | None = None
        """The end of the last wait, and the thread's processor seconds at that moment."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        began = self._clock()
        if self._returned and began - self._returned[0] > LATE:
            used = time.thread_time() - self._returned[1]
            self._leave_out(began - self._returned[0] - used)
        ready = self._wait(timeout)
        if timeout is not None:
            self._leave_out(self._clock() - began - max(timeout, 0.0))
        self._returned = (self._clock(), time.thread_time())
        return ready

    def _wait(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout)

    def _leave_out(self, late: float) -> None:
        if late > LATE:
            self.lost += late


class AwakeLoop(asyncio.SelectorEventLoop):
    """An event loop on the clock of its process's own running time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._awake = _Selector(clock)
        super().__init__(self._awake)

    def time(self) -> float:
        return self._clock() - self._awake.lost


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run` on such a loop."""
    with asyncio.Runner(loop_factory=AwakeLoop) as runner:
        return runner.run(main)
