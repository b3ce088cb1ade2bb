"""Which of several workers a stream's next segment goes to: the one that is expected to have it made first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from frontend.planning.ledger import Ledger
from frontend.scheduling.isolation import Isolation
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment
from frontend.streams.stream import Stream

CLEARLY = 1.25
"""How many times as long the worker that has the stream may need before another one is taken."""


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
    """Knows the work that each worker was given and hasn't done; `look` is to be called when that may have changed."""

    def __init__(self, streams: Mapping[int, Stream], ledger: Ledger) -> None:
        self._streams = streams
        self._ledger = ledger
        self._there: dict[int, list[PlannedSegment]] | None = None
        """By generation."""
        self._ahead: dict[int, tuple[int, float]] = {}
        """By generation: how many segments it makes side by side with one more, and seconds until that begins."""
        self.isolation: Isolation | None = None
        """Its worker is no place for any other segment, if there is another worker."""

    def look(self) -> None:
        """Look again at what the workers have."""
        self._there = None
        self._ahead.clear()

    def choose(self, links: Sequence[Link], stream: Stream) -> Link:
        """The worker for the stream's next segment, out of one or more."""
        segment = stream.segments.next
        if len(links) == 1 or segment is None:
            return links[0]
        if self.isolation and segment is not self.isolation.segment:
            links = [link for link in links if link is not self.isolation.link]
        links = [link for link in links if link.rings.can_hold(stream.number, segment.index)] or links
        times = {link.generation: self._finish(link, segment) for link in links}
        best = min(links, key=lambda link: times[link.generation])
        stay = next((each.link for each in reversed(stream.segments) if each.link in links), None)
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
        """Seconds of work that are left of the segment at that worker's speed."""
        costs = self._ledger.of(link.engine).costs
        whole = costs.seconds(segment.segment.tokens, segment.speed, load)
        return whole * (1 - segment.sealed / segment.length) if segment.length else whole
