"""An event loop whose clock leaves out the time in which its process didn't run, and a child process that runs on it.

A machine that sleeps, a virtual machine that is paused and a process that is stopped lose minutes or hours at once, and
so do the processes at the other ends of all connections. On an ordinary loop each deadline would have passed then: of
clients that read slowly, of idle connections, of a worker that is watched. Here every deadline of the loop
(`call_later`, `asyncio.timeout`, and all that aiohttp makes of them) is as far away as it was before.
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, TypeVar

from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.messages import ChildProgress, ControlMessage, Drain, Heartbeat

log = logging.getLogger(__name__)

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


def run_and_exit(main: Coroutine[Any, Any, None]) -> NoReturn:
    """Run a process to its end, and exit without waiting for its threads: nobody wants any more what they make.

    Raises:
        OSError, MemoryError: what the machine refuses, which `run_role` tells in one line.
    """
    status = 1
    try:
        run(main)
        status = 0
    except (OSError, MemoryError):
        raise
    except Exception:
        log.exception("this process failed")
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


class SupervisedProcess:
    """A child with an event loop: it answers heartbeats, says once that it has got on, and ends when it is told to or
    its supervisor has ended."""

    def __init__(self, control: ControlSocket) -> None:
        self._control = control
        self._has_progressed = False
        self._end = asyncio.Event()

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        """Act on a message that is neither a heartbeat nor the end; `Drain` comes here too, before the end."""

    def _listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._control.fileno(), self._hear_supervisor)

    def _hear_supervisor(self) -> None:
        try:
            for message, fds in self._control.receive():
                if isinstance(message, Heartbeat):
                    self._tell_supervisor(message)
                    continue
                self._follow(message, fds)
                if isinstance(message, Drain):
                    self._end.set()
        except BrokenChannel:
            self._end.set()

    def _tell_supervisor(self, message: ControlMessage) -> None:
        try:
            self._control.send(message)
        except BrokenChannel:
            log.warning("the supervisor doesn't hear: %s", message)

    def _note_progress(self) -> None:
        if not self._has_progressed:
            self._has_progressed = True
            self._tell_supervisor(ChildProgress())
