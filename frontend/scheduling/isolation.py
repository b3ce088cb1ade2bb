"""Isolation: a worker gets one suspect segment at a time, alone, which shows whether that segment kills workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment, SegmentState
from frontend.streams.ring_room import has_room
from frontend.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Isolation:
    """A suspect segment and the worker that makes it alone; the other workers continue with segments that aren't
    suspects."""

    segment: PlannedSegment
    link: Link


def isolate(streams: Mapping[int, Stream], link_for: Callable[[Stream], Link | None]) -> Isolation | None:
    """The suspect that is being made, else the eligible suspect with the nearest deadline; None if there is none.

    Args:
        link_for: the worker that a stream's next segment would go to.
    """
    suspects = [
        (stream, segment)
        for stream in streams.values()
        for segment in stream.segments
        if segment.suspect and not (stream.failed and segment.state is SegmentState.PLANNED)
    ]
    for _, segment in suspects:
        if segment.state is SegmentState.DISPATCHED and segment.link:
            return Isolation(segment, segment.link)
    for stream, segment in sorted(suspects, key=lambda suspect: suspect[0].timing.deadline(suspect[1])):
        link = link_for(stream) if segment is stream.segments.next else None
        if link and has_room(link, stream.number, stream.segments, segment):
            return Isolation(segment, link)
    return None
