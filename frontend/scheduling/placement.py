"""Which of several workers a stream's next segment goes to: the one that is expected to have it made first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontend.planning.ledger import Ledger
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment, State
from frontend.streams.stream import Stream

CLEARLY = 1.25
"""How many times as long the worker that has the stream may need before another one is taken."""


def finish(ahead: Sequence[float], own: float, lanes: int) -> float:
    """Seconds until a segment of `own` seconds is made behind others, each of which takes the first lane that is free.

    >>> finish([4.0, 1.0], 2.0, lanes=2)
    3.0
    """
    free = [0.0] * lanes
    for seconds in ahead:
        heapq.heapreplace(free, free[0] + seconds)
    return free[0] + own


@dataclass(frozen=True, slots=True)
class Trial:
    """A segment that may have killed a worker, and the worker that makes it alone."""

    segment: PlannedSegment
    link: Link


class Placement:
    """Knows what each worker was given and hasn't made; `look` is to be called when that may have changed."""

    def __init__(self, streams: Mapping[int, Stream], ledger: Ledger) -> None:
        self._streams = streams
        self._ledger = ledger
        self._there: dict[int, list[tuple[Stream, PlannedSegment]]] | None = None
        """By generation."""
        self._ahead: dict[int, tuple[int, float]] = {}
        """By generation: how many segments it makes side by side with one more, and seconds until that begins."""
        self.trial: Trial | None = None
        """Its worker is no place for anything else, if there is another."""

    def look(self) -> None:
        """Look again at what the workers have."""
        self._there = None
        self._ahead.clear()

    def choose(self, links: Sequence[Link], stream: Stream) -> Link:
        """One of the links, of which there is at least one, for the stream's next segment."""
        segment = stream.next_segment()
        if len(links) == 1 or segment is None:
            return links[0]
        if self.trial and segment is not self.trial.segment:
            links = [link for link in links if link is not self.trial.link]
        links = [link for link in links if link.has_ring(stream.number, segment.index)] or links
        times = {link.generation: self._finish(link, stream, segment) for link in links}
        best = min(links, key=lambda link: times[link.generation])
        stay = next((each.link for each in reversed(stream.planned) if each.link in links), None)
        return stay if stay and times[stay.generation] <= CLEARLY * times[best.generation] else best

    def _finish(self, link: Link, stream: Stream, segment: PlannedSegment) -> float:
        if link.generation not in self._ahead:
            lanes, there = link.engine.concurrency, self._at(link)
            load = min(len(there) + 1, lanes)
            ahead = [self._left(link, other, each, load) for other, each in there]
            self._ahead[link.generation] = load, finish(ahead, 0.0, lanes)
        load, begins = self._ahead[link.generation]
        return begins + self._left(link, stream, segment, load)

    def _at(self, link: Link) -> list[tuple[Stream, PlannedSegment]]:
        if self._there is None:
            self._there = {}
            for stream in self._streams.values():
                for segment in stream.planned:
                    if segment.state is State.DISPATCHED and segment.link:
                        self._there.setdefault(segment.link.generation, []).append((stream, segment))
        return self._there.get(link.generation, [])

    def _left(self, link: Link, stream: Stream, segment: PlannedSegment, load: int) -> float:
        """Seconds of work that the segment still is."""
        costs = self._ledger.of(link.engine).costs
        whole = costs.seconds(segment.segment.tokens, stream.speed(segment.segment), load)
        return whole * (1 - segment.sealed / segment.length) if segment.length else whole
