"""Which of the planned segments may go to a worker now: those whose deadlines are nearest, as far as there is room."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from frontend.contract.urgency import Urgency
from frontend.scheduling.placement import Trial
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment, State
from frontend.streams.stream import Stream

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

    def trial(self) -> Trial | None:
        """Which segment kills workers is found by giving them the suspects one at a time, alone. One worker at a time:
        the others go on with what is no suspect."""
        suspects = [
            (stream, segment)
            for stream in self._streams.values()
            for segment in stream.planned
            if segment.suspect and not (stream.failed and segment.state is State.PLANNED)
        ]
        for _, segment in suspects:
            if segment.state is State.DISPATCHED and segment.link:
                return Trial(segment, segment.link)
        for stream, segment in sorted(suspects, key=lambda suspect: suspect[0].deadline(suspect[1])):
            link = self._link_for(stream) if segment is stream.next_segment() else None
            if link and _has_room(link, stream, segment):
                return Trial(segment, link)
        return None

    def may_go(self, link: Link, stream: Stream, segment: PlannedSegment, trial: Trial | None) -> bool:
        """May that segment go to that generation now?

        Args:
            trial: as `trial` has it.
        """
        if segment is not stream.next_segment() or not _has_room(link, stream, segment):
            return False
        if stream.is_finishing_before(link):
            return False
        if trial and (segment.suspect or link is trial.link):
            # What waits there until the listener has heard this one makes way for it.
            behind = stream.stuck_behind(segment, link)
            return segment is trial.segment and link is trial.link and link.in_worker == behind
        # A newcomer goes at once, and who has lost a worker: by its deadline the worker takes it up next. Who isn't
        # listened to yet has time.
        newcomer = stream.request.urgency is Urgency.LISTENING and not stream.begun
        return newcomer or segment.resumed or link.in_worker < link.engine.concurrency + SPARE


def _has_room(link: Link, stream: Stream, segment: PlannedSegment) -> bool:
    there = link.leases.get(stream.number)
    if there and there.last > segment.index:  # it needs a ring of its own, or this one without what is behind it
        return link.has_free_ring or stream.can_take_out(there)
    lease = link.lease(stream.number)
    if lease is None:
        return False
    return segment.estimate - segment.sealed <= lease.room or lease.empty
