"""Placement: a stream's next segment goes to the worker that is expected to finish it first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from frontend.planning.ledger import Ledger
from frontend.scheduling.isolation import Isolation
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment
from frontend.streams.stream import Stream

CLEARLY = 1.25
"""Factor by which the stream's current worker must be slower than another one before the stream moves."""


def finish(ahead: Sequence[float], own: float, threads: int) -> float:
    """Seconds until a segment of `own` seconds is made after others, each of which takes the first free thread.

    >>> finish([4.0, 1.0], 2.0, threads=2)
    3.0
    """
    free = [0.0] * threads
    for seconds in ahead:
        heapq.heapreplace(free, free[0] + seconds)
    return free[0] + own


class Placement:
    """Tracks the unfinished work of each worker; call `look` when that work may have changed."""

    def __init__(self, streams: Mapping[int, Stream], ledger: Ledger) -> None:
        self._streams = streams
        self._ledger = ledger
        self._there: dict[int, list[PlannedSegment]] | None = None
        """Segments at each worker, by generation."""
        self._ahead: dict[int, tuple[int, float]] = {}
        """The number of segments made at once with one more, and the seconds until that one begins, by generation."""
        self.isolation: Isolation | None = None
        """The isolation in progress: its worker gets no other segment if there is another worker."""

    def look(self) -> None:
        """Read again which segments the workers have."""
        self._there = None
        self._ahead.clear()

    def choose(self, links: Sequence[Link], stream: Stream) -> Link:
        """The worker for the stream's next segment, chosen from at least one candidate."""
        segment = stream.segments.next
        if len(links) == 1 or segment is None:
            return links[0]
        if self.isolation and segment is not self.isolation.segment:
            links = [link for link in links if link is not self.isolation.link]
        links = [link for link in links if link.rings.can_hold(stream.number, segment.index)] or links
        times = {link.generation: self._finish(link, segment) for link in links}
        best = min(links, key=lambda link: times[link.generation])
        made_by = [stream.segments.last_heard_from, *(each.link for each in stream.segments)]
        stay = next((link for link in reversed(made_by) if link in links), None)
        return stay if stay and times[stay.generation] <= CLEARLY * times[best.generation] else best

    def _finish(self, link: Link, segment: PlannedSegment) -> float:
        """Seconds until that worker would have made the segment."""
        if link.generation not in self._ahead:
            threads, there = link.engine.concurrency, self._at(link)
            load = min(len(there) + 1, threads)
            ahead = [self._left(link, each, load) for each in there]
            self._ahead[link.generation] = load, finish(ahead, 0.0, threads)
        load, begins = self._ahead[link.generation]
        return begins + self._left(link, segment, load)

    def _at(self, link: Link) -> list[PlannedSegment]:
        if self._there is None:
            self._there = {}
            for stream in self._streams.values():
                for segment in stream.segments.dispatched():
                    if segment.link:
                        self._there.setdefault(segment.link.generation, []).append(segment)
        return self._there.get(link.generation, [])

    def _left(self, link: Link, segment: PlannedSegment, load: int) -> float:
        """Seconds of work that remain for the segment at that worker's speed."""
        costs = self._ledger.of(link.engine).costs
        whole = costs.seconds(segment.segment.tokens, segment.speed, load)
        return whole * (1 - segment.sealed / segment.length) if segment.length else whole
