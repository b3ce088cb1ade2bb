"""The dispatcher gives segments to workers, nearest deadline first. `Dispatcher.wake` is the front's main loop."""

from __future__ import annotations

import hashlib
import heapq
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from frontend.contract.errors import Broken, Unavailable
from frontend.contract.request import Urgency
from frontend.monitoring.metrics import Event
from frontend.planning.costs import CostModel, Ledger
from frontend.planning.planner import Limits, replan
from frontend.scheduling.shared import Shared
from frontend.scheduling.standing import EngineStanding
from frontend.scheduling.watch import Watch
from frontend.streams.links import Lease, Link, Loss, sound_alike
from frontend.streams.segments import SegmentState, StreamSegment, segment_speed
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.inflection import InflectedSpan
from shm.killpoint import killpoint
from shm.messages import SegmentOrder, Voice
from shm.score import LAYOUT
from text.words.segment import Notation, Segment

PER_STREAM = 2
"""Segments of one stream at a worker at a time: one in the making, one to continue with."""

SPARE = 1
"""Segments at a worker beyond those that it makes at once, so that it never waits for the front."""

CLEARLY = 1.25
"""Factor by which the stream's current worker must be slower than another one before the stream moves."""

REPLANNED_AT_ONCE = 2
"""Segments that are cut again at a time: more would block the event loop when it is busiest."""


class Dispatcher:
    """Sends segments to workers. Every event that may make a segment dispatchable wakes it; between events it does
    nothing."""

    def __init__(self, shared: Shared, standing: EngineStanding, watch: Watch, number: Callable[[], int]) -> None:
        """`number` returns a stream number that no worker has seen yet."""
        self._shared = shared
        self._standing = standing
        self._watch = watch
        self._number = number
        self._placement = Placement(shared.streams, shared.ledger)
        self._limits = Limits()

    def wake(self) -> None:
        """Dispatch every segment that can be dispatched: plan again, reject quarantined ones, isolate a suspect,
        send."""
        self._standing.look()
        self._placement.look()
        self._plan_again()
        due = waiting(self._shared.streams)
        self._refuse_quarantined([(stream, segment) for _, stream, segment in due])
        isolation = self._isolate()
        for deadline, stream, segment in due:
            link = None if stream.failed else self.link_for(stream)
            if link and may_go(link, stream, segment, isolation) and self._send(link, stream, segment, deadline):
                self._placement.look()

    def link_for(self, stream: Stream) -> Link | None:
        """The worker for the stream's next segment; None while no worker has the engine that the stream began with.

        A stream whose engine was replaced by another one fails: its voice must not change midway.
        """
        links = self._shared.links
        if alike := links.that_sound_like(stream.engine):
            return self._placement.choose(alike, stream)
        engine = links.best_engine
        if links.current and engine and not sound_alike(engine, stream.engine):
            reason = f"{stream.engine.name} has given way to {engine.name}"
            stream.fail(Broken(reason) if stream.playback.begun else Unavailable(reason, self._standing.retry_after))
        return None

    def _plan_again(self) -> None:
        """Plan the remaining segments again for each stream whose listener is about to run dry."""
        if not self._shared.settings.adapt_plans:
            return
        for stream in self._shared.streams.values():
            playing = stream.timing.sounds and stream.segments.next
            alike = self._shared.links.that_sound_like(stream.engine) if playing else ()
            if not alike:
                continue
            engine = self._placement.choose(alike, stream).engine
            costs = self._shared.ledger.of(engine)
            if change := plan_again(stream, time.monotonic(), costs, engine.concurrency, self._limits):
                replaced, segments = change
                plans = [stream_segment(stream, segment, self._shared.ledger) for segment in segments]
                first = replaced[0].index
                stream.segments.replace(replaced, plans)
                stream.note_plan(first)
                self._shared.metrics.count(Event.REPLANNED)

    def _refuse_quarantined(self, due: Sequence[tuple[Stream, StreamSegment]]) -> None:
        """Fail each stream whose next segment is known to kill workers."""
        for stream, segment in due:
            if segment.key in self._shared.quarantine:
                stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))

    def _isolate(self) -> Isolation | None:
        """Choose the suspect segment to be made alone, if any, and keep other segments from its worker."""
        self._placement.isolation = None  # else the suspect's own worker would be no place for it
        self._placement.isolation = isolate(self._shared.streams, self.link_for)
        return self._placement.isolation

    def _send(self, link: Link, stream: Stream, planned: StreamSegment, deadline: float) -> bool:
        """Order the segment from that worker; returns False if the stream can get no ring there after all.

        Args:
            deadline: monotonic seconds at which the segment's sample 0 must be there.
        """
        lease = link.rings.lease(stream.number)
        if lease and lease.last > planned.index:
            lease = self._make_way(link, stream)
        if lease is None:
            return False
        request = stream.request
        planned.dispatched(link, lease)
        request.stages.reach("dispatched")
        link.dispatch(
            SegmentOrder(
                generation=link.generation,
                stream=lease.number,
                segment=planned.index,
                ring=lease.ring,
                script=planned.segment.script,
                language=planned.performer.language,
                voice=planned.performer.voice,
                speed=planned.speed,
                seed=zlib.crc32(planned.segment.script.encode()),
                from_sample=planned.sealed,
                inflected=planned.inflected,
                part=planned.segment.part,
                styled=planned.segment.styled,
                first_deadline=deadline,
                marks=request.timestamps,
                score=planned.segment.score,
                score_only=request.score_only,
            )
        )
        killpoint("dispatched")
        self._watch.sign_of_life(link)
        stream.text.mind(stream.segments)
        return True

    def _make_way(self, link: Link, stream: Stream) -> Lease | None:
        """A ring for a segment that precedes segments which the worker already has: the worker makes those again
        afterwards."""
        unread = link.rings.has_free or not stream.segments.take_out(link.rings.leases[stream.number])
        lease = link.rings.renew(stream.number, self._number(), unread)
        for later in list(stream.segments.at(link)) if lease else ():
            later.orphaned(Loss.INNOCENT)
            link.in_worker -= 1
            self._shared.metrics.count(Event.RESUBMITTED)
        return lease


# A segment, planned for its stream.


def stream_segment(stream: Stream, segment: Segment, ledger: Ledger) -> StreamSegment:
    """The segment with its performer, its speed, its key, and the length that the stream's engine is expected to
    give it."""
    request = stream.request
    performer = segment.performer or request.performer
    speed = segment_speed(request.speed, segment.rate)
    inflected = segment.inflected(request.inflection) if stream.engine.inflects else ()
    voice, language, part = performer.voice, performer.language, segment.part
    key = fingerprint(stream.engine, segment.script, language, voice, speed, inflected, part, segment.styled)
    if segment.score or request.score_only:
        key = hashlib.blake2b(_encode((key, segment.score, request.score_only * LAYOUT)), digest_size=16).digest()
    return StreamSegment(
        segment,
        performer,
        speed,
        estimate=ledger.of(stream.engine).samples(segment.tokens, speed),
        inflected=inflected,
        key=key,
    )


_encode = msgspec.msgpack.Encoder().encode


def fingerprint(
    engine: EngineInfo,
    script: str,
    language: str,
    voice: Voice,
    speed: float,
    inflected: tuple[InflectedSpan, ...] = (),
    part: tuple[int, int] | None = None,
    styled: int = 0,
) -> bytes:
    """The key under which a segment is cached and quarantined, a hash of 16 bytes: equal keys mean equal samples.

    The hash covers the voice's numbers, not only its name: `EngineInfo.voices_sha256` is part of it, and so are the
    windows and statistics of the vocoder (`EngineInfo.rendering`). The execution provider isn't: two providers' samples
    of one model differ by rounding only.
    """
    how = (engine.name, engine.model, engine.model_sha256, engine.voices_sha256, engine.rendering)
    said = (script, language, voice, speed, *((part, styled) if part else ()), *((inflected,) if inflected else ()))
    return hashlib.blake2b(_encode((how, *said)), digest_size=16).digest()


def plan_again(
    stream: Stream, now: float, costs: CostModel, concurrency: int, limits: Limits
) -> tuple[Sequence[StreamSegment], Sequence[Segment]] | None:
    """The stream's undispatched segments and their replacements, if its listener is about to run out of audio; None if
    the present cuts are right.

    This is the one case in which a request's cuts depend on more than its text, voice, speed and first cost profile: a
    gap is worse than another cut.

    Args:
        now: monotonic seconds.
        costs: those of the engine that would make them; a guess is no reason to plan again.
        concurrency: segments that this engine makes at once.
    """
    listened_to = stream.timing.sounds and stream.request.urgency is Urgency.LISTENING
    due = stream.segments.next
    if not (listened_to and costs.measured and due) or due.index <= stream.segments.replaced_at:
        return None
    slack = stream.timing.deadline(due) - now
    if costs.first_audio(due.segment.tokens, due.speed, concurrency) <= slack:
        return None
    rest = stream.segments.unbegun()[:REPLANNED_AT_ONCE]
    units = [unit for segment in rest for unit in segment.segment.units]
    if not units or rest[0] is not due or any(segment.segment.part for segment in rest):
        return None
    crowd = costs.seconds(100, due.speed, concurrency) / costs.seconds(100, due.speed)
    crowded = costs.fitted().slowed(crowd)
    notation = Notation.of(stream.engine)
    segments = replan(units, max(slack, 0.0), crowded, stream.request.speed, notation, limits)
    return None if [s.script for s in segments] == [s.segment.script for s in rest] else (rest, segments)


# Turns: the planned segments that may go to a worker now.


def waiting(streams: Mapping[int, Stream]) -> list[tuple[float, Stream, StreamSegment]]:
    """The segments of each stream that may go next, with their deadlines (monotonic seconds); nearest first.

    Until its first sample exists, a stream has one segment in the making: a second one would take processors and memory
    bandwidth from the first, for which the listener waits.
    """
    found: list[tuple[float, Stream, StreamSegment]] = []
    for stream in streams.values():
        if stream.failed:
            continue
        dispatched = sum(1 for _ in stream.segments.dispatched())
        places = max((PER_STREAM if stream.timing.sounds else 1) - dispatched, 0)
        due = list(stream.segments.waiting())[:places]
        found += [(stream.timing.deadline(segment), stream, segment) for segment in due]
    return sorted(found, key=lambda entry: entry[0])


def may_go(link: Link, stream: Stream, segment: StreamSegment, isolation: Isolation | None) -> bool:
    segments = stream.segments
    if segment is not segments.next or not segments.has_room(link, stream.number, segment):
        return False
    if any(each.link is not link and each.link.slot == link.slot for each in segments.dispatched() if each.link):
        return False  # the link's predecessor in its slot still makes a segment of the stream
    if isolation and (segment.suspect or link is isolation.link):
        # Segments that wait there until the listener has heard this one make way for it.
        stuck = segments.stuck_after(segment, link)
        return segment is isolation.segment and link is isolation.link and link.in_worker == stuck
    # A newcomer's segment goes at once, as does that of a stream that lost a worker: the worker orders them by
    # deadline. A stream that nobody listens to yet has time.
    listened_to = stream.request.urgency is Urgency.LISTENING
    newcomer = listened_to and not stream.playback.begun
    # A worker that vocodes in windows takes turns between segments. If one that has ended left its stream without any,
    # its listener would wait until others' segments, which are due later, are whole.
    next_one = listened_to and link.engine.first_block > 0 and not any(True for _ in segments.at(link))
    return newcomer or next_one or segment.resumed or link.in_worker < link.engine.concurrency + SPARE


# Isolation: a worker gets one suspect segment at a time, alone, which shows whether that segment kills workers.


@dataclass(frozen=True, slots=True)
class Isolation:
    """A suspect segment and the worker that makes it alone; the other workers continue with segments that aren't
    suspects."""

    segment: StreamSegment
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
        if link and stream.segments.has_room(link, stream.number, segment):
            return Isolation(segment, link)
    return None


class Placement:
    """Places a stream's next segment with the worker that is expected to finish it first. Call `look` when the workers'
    unfinished work may have changed."""

    def __init__(self, streams: Mapping[int, Stream], ledger: Ledger) -> None:
        self._streams = streams
        self._ledger = ledger
        self._there: dict[int, list[StreamSegment]] | None = None
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

    def _finish(self, link: Link, segment: StreamSegment) -> float:
        """Seconds until that worker would have made the segment."""
        if link.generation not in self._ahead:
            threads, there = link.engine.concurrency, self._at(link)
            load = min(len(there) + 1, threads)
            ahead = [self._left(link, each, load) for each in there]
            self._ahead[link.generation] = load, finish(ahead, 0.0, threads)
        load, begins = self._ahead[link.generation]
        return begins + self._left(link, segment, load)

    def _at(self, link: Link) -> list[StreamSegment]:
        if self._there is None:
            self._there = {}
            for stream in self._streams.values():
                for segment in stream.segments.dispatched():
                    if segment.link:
                        self._there.setdefault(segment.link.generation, []).append(segment)
        return self._there.get(link.generation, [])

    def _left(self, link: Link, segment: StreamSegment, load: int) -> float:
        """Seconds of work that remain for the segment at that worker's speed."""
        whole = self._ledger.of(link.engine).seconds(segment.segment.tokens, segment.speed, load)
        return whole * (1 - segment.sealed / segment.length) if segment.length else whole


def finish(ahead: Sequence[float], own: float, threads: int) -> float:
    """Seconds until a segment of `own` seconds is made after others, each of which takes the first free thread.

    >>> finish([4.0, 1.0], 2.0, threads=2)
    3.0
    """
    free = [0.0] * threads
    for seconds in ahead:
        heapq.heapreplace(free, free[0] + seconds)
    return free[0] + own
