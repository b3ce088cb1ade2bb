"""Steps of the segments that are being made: each with its number of threads, and made again if it is paused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from worker.engine import Paused
from worker.machine.machine import cores
from worker.run_control import RunControl
from worker.settings import WorkerSettings

T = TypeVar("T")


class Crew:
    """Runs the steps of all segments, each with a number of threads: all of them if it runs alone, one each if several
    run.

    One thread per run, with as many runs as cores, gave the most audio; all cores for one run gave the earliest.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self.most = settings.threads or cores()
        self.least = settings.threads or 1
        self._steps = 0
        self._lock = threading.Lock()

    def run(self, control: RunControl, step: Callable[[int], T]) -> T:
        """The result of `step`, which is given its number of threads. A step that is paused begins again afterwards.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: the errors of `step`.
        """
        while True:
            control.wait_while_paused()
            try:
                with self.step() as threads:
                    return step(threads)
            except Paused:
                continue

    @contextmanager
    def step(self) -> Iterator[int]:
        """Count a step as running while the block runs; the value is the step's number of threads."""
        with self._lock:
            self._steps += 1
            threads = self.most if self._steps == 1 else self.least
        try:
            yield threads
        finally:
            with self._lock:
                self._steps -= 1
