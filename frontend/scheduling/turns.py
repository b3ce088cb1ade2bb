"""Which of the planned segments may go to a worker now: those whose deadlines are nearest, as far as there is room."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from frontend.link import Link
from frontend.planned import PlannedSegment, State
from frontend.stream import Stream

PER_STREAM = 2
"""A stream's segments in the worker at a time: one in the making, one to go on with."""

SPARE = 1
"""Segments in the worker beyond those that it makes side by side, so that it never waits for the front."""


class Turns:
    """The rules. `link_for` says which generation a stream's next segment would go to."""

    def __init__(self, streams: Mapping[int, Stream], link_for: Callable[[Stream], Link | None]) -> None:
        self._streams = streams
        self._link_for = link_for

    def waiting(self) -> list[tuple[float, Stream, PlannedSegment]]:
        """Per stream, the segments that may go next, with their deadlines; the nearest first.

        Until its first sample is there, a stream has one segment in the making: a second one would take memory
        bandwidth from it (first audio after 26 ms took 6 ms longer so, on two cores).
        """
        found: list[tuple[float, Stream, PlannedSegment]] = []
        for stream in self._streams.values():
            if stream.failed:
                continue
            there = sum(segment.state is State.DISPATCHED for segment in stream.planned)
            due = [segment for segment in stream.planned if segment.state is State.PLANNED]
            places = max((PER_STREAM if stream.sounds else 1) - there, 0)
            found += [(stream.deadline(segment), stream, segment) for segment in due[:places]]
        return sorted(found, key=lambda entry: entry[0])

    def any_suspects(self) -> bool:
        """Whether there is a suspect at all; there seldom is."""
        return any(segment.suspect for stream in self._streams.values() for segment in stream.planned)

    def may_go(self, link: Link, stream: Stream, segment: PlannedSegment, suspects: bool) -> bool:
        """May that segment go to that generation now?

        Args:
            suspects: as `any_suspects` has it.
        """
        if segment is not stream.next_segment() or not _has_room(link, stream, segment):
            return False
        if stream.has_work_beside(link):
            # Should that generation die, its segment would need this ring, behind a later one that waits for it.
            return False
        if suspects and self._suspect_at(link):
            # Which segment kills workers is found by giving them the suspects one at a time, alone.
            return segment.suspect and link.in_worker == 0
        # A newcomer goes at once: by its deadline the worker takes it up next. Who isn't listened to yet has time.
        newcomer = not (stream.begun or stream.request.whole or stream.request.idle)
        return newcomer or link.in_worker < link.engine.concurrency + SPARE

    def _suspect_at(self, link: Link) -> bool:
        """A suspect is in that worker, or could go there."""
        for stream in self._streams.values():
            if any(segment.suspect and segment.link is link for segment in stream.planned):
                return True
            due = stream.next_segment()
            if due and due.suspect and self._link_for(stream) is link and _has_room(link, stream, due):
                return True
        return False


def _has_room(link: Link, stream: Stream, segment: PlannedSegment) -> bool:
    lease = link.lease(stream.number)
    return lease is not None and (segment.estimate - segment.sealed <= lease.room or lease.empty)
