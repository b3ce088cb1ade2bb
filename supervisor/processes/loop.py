"""The supervisor's one loop: waits for children, their sockets, signals and timers, and calls the lifecycle."""

from __future__ import annotations

import logging
import os
import selectors
import signal
import time
from types import FrameType

from shm.frames import BrokenChannel
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.incarnation import Incarnation, Spawner
from supervisor.processes.lifecycle import Lifecycle
from supervisor.processes.spawn import ChildProcess, ProcessSpawner
from supervisor.processes.timers import Timers

log = logging.getLogger(__name__)


class WatchingSpawner:
    """Starts children and makes the loop watch them."""

    def __init__(self, spawner: ProcessSpawner, selector: selectors.BaseSelector) -> None:
        self._spawner = spawner
        self._selector = selector

    def __call__(self, role: str, generation: int, subject: str = "") -> Incarnation:
        child = self._spawner(role, generation, subject)
        self._selector.register(child.sentinel, selectors.EVENT_READ, child)
        self._selector.register(child.control, selectors.EVENT_READ, child)
        return child


class Loop:
    """Runs a lifecycle until it sets an exit code."""

    def __init__(self, spawner: ProcessSpawner) -> None:
        self._selector = selectors.DefaultSelector()
        self.spawn: Spawner = WatchingSpawner(spawner, self._selector)
        self._signals_read, self._signals_write = os.pipe()
        os.set_blocking(self._signals_read, False)
        os.set_blocking(self._signals_write, False)
        self._selector.register(self._signals_read, selectors.EVENT_READ, None)
        self.timers = Timers(time.monotonic)
        """Timers of the program around the lifecycle."""

    def run(self, lifecycle: Lifecycle) -> ExitCode:
        """Run until the lifecycle ends."""
        for handled in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(handled, self._enqueue)
        try:
            lifecycle.start()
            while lifecycle.exit_code is None:
                self._turn(lifecycle)
        except Exception:
            # The children would be unattended from here on (if no descriptor is left to start one with, say).
            log.critical("the supervisor has failed", exc_info=True)
            lifecycle.abandon()
            return ExitCode.FAILED
        return lifecycle.exit_code

    def _turn(self, lifecycle: Lifecycle) -> None:
        wakeups = [wakeup for wakeup in (lifecycle.next_wakeup(), self.timers.next) if wakeup is not None]
        timeout = max(min(wakeups) - time.monotonic(), 0) if wakeups else None
        ready = self._selector.select(timeout)
        # A front that saw a worker's death may be read together with that worker's earlier messages: the worker goes
        # first.
        for key, _ in sorted(ready, key=lambda event: getattr(event[0].data, "role", "") == "front"):
            if key.data is None:
                for number in os.read(self._signals_read, 64):
                    lifecycle.signal(number)
            elif key.fileobj not in self._watched():
                continue  # its child was reaped at another of these events
            elif key.fileobj == key.data.sentinel:
                self._ended(key.data, lifecycle)
            else:
                self._hear(key.data, lifecycle)
        lifecycle.tick()
        self.timers.run_due()

    def _enqueue(self, number: int, _frame: FrameType | None) -> None:
        """Put the signal into a queue and do nothing else: all work happens in the loop, one event at a time."""
        os.write(self._signals_write, bytes([number]))

    def _watched(self) -> set[object]:
        return {key.fileobj for key in self._selector.get_map().values()}

    def _hear(self, child: ChildProcess, lifecycle: Lifecycle) -> bool:
        """Pass on the child's messages; returns False if it has none left."""
        try:
            messages = child.control.receive()
        except BrokenChannel:
            # The sentinel reports the child's end; a socket at EOF would stay readable for ever.
            self._selector.unregister(child.control)
            return False
        for message, _ in messages:
            lifecycle.message(child, message)
        return bool(messages)

    def _ended(self, child: ChildProcess, lifecycle: Lifecycle) -> None:
        while child.control in self._watched() and self._hear(child, lifecycle):
            pass  # messages sent before it ended
        if child.control in self._watched():
            self._selector.unregister(child.control)
        self._selector.unregister(child.sentinel)
        lifecycle.exited(child)
