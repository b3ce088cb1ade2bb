"""The watchdogs of all worker generations, each with the work that is expected of its generation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import psutil

from frontend.scheduling.shared import Shared
from frontend.streams.links import Link, Loss
from frontend.streams.segments import StreamSegment

# Tells a worker that hangs (stopped, in an endless loop, in a driver that never returns) from a busy one.
#
# A worker sends a record when an inference thread takes up a block (`Began`), when a block is sealed, and when a
# segment has ended. The next record is expected within a multiple of the time that the work should take, plus a fixed
# patience. A worker that can't write because its listener's ring is full is not late, nor is one that has made a
# block ahead of its turn.
#
# A late worker may still be healthy on a machine that is busy with other things, and leaves it a small part of a
# core. So a late worker is lost only if its process has used no processor time since it became late, or as much as
# the work may take (an endless loop).

FACTOR = 10.0
"""Factor by which a block may take longer than its whole segment should."""

STILL = 0.002
"""Share of one processor up to which a process counts as not running: a tick of 10 ms in 5 s."""

STARVED = 30.0
"""Multiple of its limit after which a worker that computes all the time and has sealed nothing is lost too."""


@dataclass(frozen=True, slots=True)
class _Work:
    """The next record that is expected of the worker for one segment."""

    segment: StreamSegment
    since: float
    """Time of the segment's last sign of life, on the event loop's clock."""
    limit: float
    """Seconds that the work may take; the limit for processor time is equal."""

    @property
    def due(self) -> float:
        return self.since + self.limit


@dataclass(frozen=True, slots=True)
class _Sample:
    """The worker's processor time at one moment."""

    work: _Work
    at: float
    computed: float | None


class Watchdog:
    """Watches one link. `heads` are the segments at which the worker must be working: the first one of each stream."""

    def __init__(
        self,
        link: Link,
        patience: float,
        heads: Callable[[Link], Iterable[tuple[StreamSegment, float]]],
        computed: Callable[[], float | None],
    ) -> None:
        """`heads` gives each segment with the seconds that its making should take, `computed` the processor seconds
        that the worker has used so far; None if they are unknown."""
        self._link = link
        self._patience = patience
        self._heads = heads
        self._computed = computed
        self._loop = asyncio.get_running_loop()
        self._last_sign = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._sample: _Sample | None = None
        """The first sample since the worker became late with this work."""
        self._latest: _Sample | None = None

    def sign_of_life(self) -> None:
        """Note a sign of life: the worker sent a record, or was given its first segment after having none."""
        self._last_sign = self._loop.time()
        self._arm(self._next_look())

    def _arm(self, at: float | None) -> None:
        """Set the timer for the next look. A timer that fires too early sets itself again; one that is too late is
        replaced."""
        if at is not None and (self._timer is None or at < self._timer.when()):
            self.stop()
            self._timer = self._loop.call_at(at, self._look)

    def _next_look(self) -> float | None:
        """The time of the next processor time sample, or, if there is one, the time at which the work is due."""
        work = self._most_urgent()
        if work is None:
            return None
        sampled = self._sample is not None and self._sample.work == work
        return work.due if sampled else work.due - self._patience

    def _look(self) -> None:
        self._timer = None
        self._link.read()  # records that arrived while this process was busy
        work, now = self._most_urgent(), self._loop.time()
        if work is None:
            return
        if self._sample is None or self._sample.work != work:
            if now < work.due - self._patience:
                self._arm(self._next_look())
                return
            self._sample = self._latest = _Sample(work, now, self._computed())
            # If this process was too busy to look in time, the worker still gets its time to be seen computing.
            self._arm(max(work.due, now + self._patience))
        elif now < work.due:
            self._arm(work.due)
        elif self._hangs(self._sample, now):
            self._link.lose("it hangs", Loss.HANG)
        else:
            self._arm(now + self._patience)

    def _hangs(self, first: _Sample, now: float) -> bool:
        before, self._latest = self._latest, _Sample(first.work, now, self._computed())
        computed = self._latest.computed
        if computed is None or before is None or before.computed is None or first.computed is None:
            return True
        still = computed - before.computed < STILL * (now - before.at)
        used = computed - first.computed
        return still or used >= first.work.limit or now >= first.work.since + STARVED * first.work.limit

    def _most_urgent(self) -> _Work | None:
        """The work that is due first; None while nothing is expected of the worker."""
        expected = []
        for segment, seconds in self._heads(self._link):
            lease = segment.lease
            if lease is None or lease.sealed - lease.released >= lease.capacity:
                continue
            since = self._last_sign if segment.touched is None else segment.touched
            expected.append(_Work(segment, since, self._patience + FACTOR * seconds))
        return min(expected, key=lambda work: work.due, default=None)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Watch:
    """One watchdog for each link, from `begin` to `end`."""

    def __init__(self, shared: Shared, pid_of: Callable[[int], int | None]) -> None:
        """`pid_of` returns the process id of a generation; None while that is unknown."""
        self._shared = shared
        self._pid_of = pid_of
        self._watchdogs: dict[int, Watchdog] = {}
        """Watchdogs by generation."""

    def begin(self, link: Link) -> None:
        patience = self._shared.settings.hang_patience
        computed = partial(self._computed, link.generation)
        self._watchdogs[link.generation] = Watchdog(link, patience, self._heads, computed)

    def sign_of_life(self, link: Link) -> None:
        """Note a sign of life: the generation sent a record, was given a segment, or got room in a ring."""
        if watchdog := self._watchdogs.get(link.generation):
            watchdog.sign_of_life()

    def end(self, link: Link) -> None:
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

    def _heads(self, link: Link) -> Iterator[tuple[StreamSegment, float]]:
        """The segment of each stream whose blocks the worker writes next, with the seconds that it should take."""
        costs = self._shared.ledger.of(link.engine)
        for stream in self._shared.streams.values():
            if head := next(stream.segments.at(link), None):
                yield head, costs.seconds(head.segment.tokens, head.speed, link.engine.concurrency)


def _used(process: psutil.Process) -> float:
    """Processor seconds of the process and of its children that have ended."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)
