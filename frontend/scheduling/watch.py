"""The watchdogs of all worker generations, each with the work that is expected of its generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import psutil

from frontend.scheduling.shared import Shared
from frontend.scheduling.watchdog import Watchdog
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment


class Watch:
    """One watchdog for each link, from `begin` to `end`."""

    def __init__(self, shared: Shared, pid_of: Callable[[int], int | None]) -> None:
        """`pid_of` returns the process id of a generation; None while that is unknown."""
        self._shared = shared
        self._pid_of = pid_of
        self._watchdogs: dict[int, Watchdog] = {}
        """Watchdogs by generation."""

    def begin(self, link: Link) -> None:
        """Watch a new generation."""
        patience = self._shared.settings.hang_patience
        computed = partial(self._computed, link.generation)
        self._watchdogs[link.generation] = Watchdog(link, patience, self._heads, computed)

    def sign_of_life(self, link: Link) -> None:
        """Note a sign of life: the generation sent a record, was given a segment, or got room in a ring."""
        if watchdog := self._watchdogs.get(link.generation):
            watchdog.sign_of_life()

    def end(self, link: Link) -> None:
        """Stop watching a generation that has ended."""
        self._watchdogs.pop(link.generation).stop()

    def _computed(self, generation: int) -> float | None:
        """Processor seconds that the generation's process and its helpers have used; None if that is unknown."""
        pid = self._pid_of(generation)
        if pid is None:
            return None
        try:
            worker = psutil.Process(pid)
            # espeak-ng speaks in a helper of the worker, which uses next to no processor time itself.
            return sum(map(_used, (worker, *worker.children(recursive=True))))
        except psutil.Error:
            return None

    def _heads(self, link: Link) -> Iterator[tuple[PlannedSegment, float]]:
        """The segment of each stream whose blocks the worker writes next, with the seconds that it should take."""
        costs = self._shared.ledger.of(link.engine).costs
        for stream in self._shared.streams.values():
            if head := next(stream.segments.at(link), None):
                yield head, costs.seconds(head.segment.tokens, head.speed, link.engine.concurrency)


def _used(process: psutil.Process) -> float:
    """Processor seconds of the process and of its children that have ended."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)
