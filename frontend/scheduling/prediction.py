"""Predicts when the streams that don't sound yet will."""

from __future__ import annotations

from frontend.planning.costs import CostModel
from frontend.scheduling.shared import Shared
from frontend.streams.segments import StreamSegment
from frontend.streams.stream import Stream


def first_sounds(shared: Shared) -> dict[int, float]:
    """Predicted seconds until the first sound of each stream that is admitted and silent, by the stream's number.

    Workers make newcomers' first blocks in the order of their deadlines, one on each inference thread. Streams whose
    engine wasn't measured are left out.
    """
    found: dict[int, float] = {}
    ahead = 0.0
    threads = max(sum(link.engine.concurrency for link in shared.links.current), 1)
    for stream, first in _newcomers(shared):
        costs = shared.ledger.of(stream.engine)
        if costs.measured:
            own = _own(costs, stream, first)
            found[stream.number] = ahead / threads + own
            ahead += own
    return found


def _own(costs: CostModel, stream: Stream, first: StreamSegment) -> float:
    return costs.first_audio(first.segment.tokens, first.speed, stream.engine.concurrency)


def _newcomers(shared: Shared) -> list[tuple[Stream, StreamSegment]]:
    silent = [
        (stream, stream.segments[0])
        for stream in shared.streams.values()
        if stream.timing.admitted and not stream.timing.sounds and stream.segments
    ]
    return sorted(silent, key=lambda entry: entry[0].timing.deadline(entry[1]))
