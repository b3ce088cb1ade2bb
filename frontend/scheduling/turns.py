"""Turns: the planned segments that may go to a worker now, those with the nearest deadlines first."""

from __future__ import annotations

from collections.abc import Mapping

from frontend.contract.urgency import Urgency
from frontend.scheduling.isolation import Isolation
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment
from frontend.streams.ring_room import has_room, stuck_after
from frontend.streams.stream import Stream

PER_STREAM = 2
"""Segments of one stream at a worker at a time: one in the making, one to continue with."""

SPARE = 1
"""Segments at a worker beyond those that it makes at once, so that it never waits for the front."""


def waiting(streams: Mapping[int, Stream]) -> list[tuple[float, Stream, PlannedSegment]]:
    """The segments of each stream that may go next, with their deadlines (monotonic seconds); nearest first.

    Until its first sample exists, a stream has one segment in the making: a second one would take processors and memory
    bandwidth from the first, for which the listener waits.
    """
    found: list[tuple[float, Stream, PlannedSegment]] = []
    for stream in streams.values():
        if stream.failed:
            continue
        dispatched = sum(1 for _ in stream.segments.dispatched())
        places = max((PER_STREAM if stream.timing.sounds else 1) - dispatched, 0)
        due = list(stream.segments.waiting())[:places]
        found += [(stream.timing.deadline(segment), stream, segment) for segment in due]
    return sorted(found, key=lambda entry: entry[0])


def may_go(link: Link, stream: Stream, segment: PlannedSegment, isolation: Isolation | None) -> bool:
    """True if that segment may go to that worker now."""
    if segment is not stream.segments.next or not has_room(link, stream.number, stream.segments, segment):
        return False
    if _predecessor_is_at(link, stream):
        return False
    if isolation and (segment.suspect or link is isolation.link):
        # Segments that wait there until the listener has heard this one make way for it.
        stuck = stuck_after(stream.segments, segment, link)
        return segment is isolation.segment and link is isolation.link and link.in_worker == stuck
    # A newcomer's segment goes at once, as does that of a stream that lost a worker: the worker orders them by
    # deadline. A stream that nobody listens to yet has time.
    listened_to = stream.request.urgency is Urgency.LISTENING
    newcomer = listened_to and not stream.playback.begun
    # A worker that vocodes in windows takes turns between segments. If one that has ended left its stream without any,
    # its listener would wait until others' segments, which are due later, are whole.
    next_one = listened_to and link.engine.first_block > 0 and not any(True for _ in stream.segments.at(link))
    return newcomer or next_one or segment.resumed or link.in_worker < link.engine.concurrency + SPARE


def _predecessor_is_at(link: Link, stream: Stream) -> bool:
    """True if the link's predecessor in its slot still makes a segment of the stream."""
    return any(
        segment.link is not link and segment.link.slot == link.slot
        for segment in stream.segments.dispatched()
        if segment.link
    )
