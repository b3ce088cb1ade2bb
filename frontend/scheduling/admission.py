"""Admission: which streams get a place, and when their first samples are due.

A listener's first sample is due a fraction of a second after the request arrived. If one client's requests arrived in a
row and aren't heard yet, each is due when the one before it will have been heard: so a burst of sentences delays
another client by one sentence at most. A stream that is collected whole before playback is due only after the duration
of its audio, is never rejected for lack of time, and counts as no work that is promised: listeners come before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from frontend.contract.errors import ListenersFirst, Overloaded
from frontend.contract.request import SpeechRequest, Urgency
from frontend.scheduling.shared import Shared
from frontend.streams.segments import SegmentState, StreamSegment
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.messages import FIRST_BLOCK_GRACE

MARGIN = 0.95
"""The share of the measured speed that may be promised."""

_NEAREST = 1.0
_STEP = 1.5
_SOONEST = 0.25


@dataclass(frozen=True, slots=True)
class Demand:
    """The audio that one stream still wants made. Times are in monotonic seconds."""

    dry_at: float
    """Time at which the stream's listener has heard all samples that are made."""
    seconds: float
    """Seconds of audio that isn't made yet."""
    work: float
    """Seconds of work of one inference thread for a second of audio, with all threads busy."""
    block: float = 0.0
    """Seconds of audio that must be whole at `dry_at`: the next segment, if its engine has no windows."""
    upfront: float = 0.0
    """Seconds of work of one inference thread that must be done for the segment, before `block`: its prosody. `work`
    has this work too, but spread over the segment's audio."""

    def due(self, time: float) -> float:
        """The work that is due by the given time, in seconds of one inference thread."""
        if time < self.dry_at:
            return 0.0
        return min(self.upfront + (time - self.dry_at + self.block) * self.work, self.seconds * self.work)

    @property
    def end(self) -> float:
        """The time after which the stream wants nothing more."""
        ahead = self.block + (self.upfront / self.work if self.upfront else 0.0)
        return self.dry_at + max(self.seconds - ahead, 0.0)


def fits(now: float, others: Sequence[Demand], newcomer: Demand, threads: float) -> bool:
    """True if the newcomer is served in time, and so is every stream whose deadlines are later than the newcomer's.

    Args:
        threads: all workers together, in inference threads of the kind that `Demand.work` speaks of.
    """
    demands = [*others, newcomer]
    times = {newcomer.dry_at, *(each.dry_at for each in others), *(each.end for each in demands)}
    return all(
        sum(each.due(time) for each in demands) <= MARGIN * threads * (time - now)
        for time in times
        if time >= newcomer.dry_at
    )


def load(now: float, demands: Sequence[Demand], threads: float) -> float:
    """The share of the possible work that is due: 1 if no more work could be done in time.

    The largest value over all times from `now` + `_NEAREST` on, as in the processor demand criterion; nearer times say
    more about a single window than about the machine.
    """
    times = {max(time, now + _NEAREST) for each in demands for time in (each.dry_at, each.end)}
    return max((sum(each.due(time) for each in demands) / (threads * (time - now)) for time in times), default=0.0)


def wait_for_room(now: float, others: Sequence[Demand], newcomer: Demand, threads: float) -> float:
    """Seconds after which the newcomer would fit if no other stream comes: 0 if it fits now.

    The result is exact to a factor of `_STEP`, and never earlier than the newcomer fits.
    """
    if not others or fits(now, others, newcomer, threads):
        return 0.0
    wait = _SOONEST
    while not fits(now, others, replace(newcomer, dry_at=newcomer.dry_at + wait), threads):
        wait *= _STEP
        if wait > 86_400:  # the newcomer never fits: the machine is slower than speech
            return max(_SOONEST, max(each.end for each in others) - now)
    return wait


FIRST_AUDIO_TARGET = 0.3
"""Seconds from a request's arrival to its first sample: a newcomer's deadline."""

SENTENCE = 20.0
"""Seconds of audio up to which a request counts as one of a row; a longer request doesn't delay the next one's
deadline."""

LARGEST_SHARE = 0.5
"""The largest share of the machine that one stream can keep newcomers from. On a machine that is slower than speech or
hardly faster, a long text uses all of it until it ends; a short text alongside costs the long one a gap, which is
accepted."""

_IDLE = 86_400.0
"""Seconds until an idle stream's first sample is due: no listener waits for it."""


class Admission:
    """Admits a stream only if it and all admitted streams can be served in time."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def make_room(self, request: SpeechRequest) -> None:
        """Let a request in if it is one of at most `--max-streams`, or had its place before a front was killed.

        Idle streams don't count for a listener, and end when one comes.

        Raises:
            Overloaded: too many streams are open.
            ListenersFirst: the request is idle, and a listener's stream is open or too many idle ones are.
        """
        if request.progress.left:
            return
        streams = self._shared.streams.values()
        idle = request.urgency is Urgency.IDLE
        held = sum(idle or other.request.urgency is not Urgency.IDLE for other in streams)
        most = self._shared.settings.max_streams
        if held >= most - int(most * self._kept_from(request)):
            place = self._soonest_place()
            raise ListenersFirst(place) if idle else Overloaded(f"{held} requests are being spoken already.", place)
        if not idle:
            for other in streams:
                if other.request.urgency is Urgency.IDLE:
                    other.fail(ListenersFirst())
        elif any(other.request.urgency is not Urgency.IDLE for other in streams):
            raise ListenersFirst(self._soonest_place())

    def admit(self, stream: Stream, first: StreamSegment) -> None:
        """Give the stream a place, and set the time at which its first sample is due.

        Args:
            first: the stream's first segment that must be made; it isn't in the stream's queue yet.

        Raises:
            Overloaded: it could not be served in time alongside the admitted streams; says when it could.
        """
        request, timing = stream.request, stream.timing
        now = time.monotonic()
        match request.urgency:
            case Urgency.IDLE:
                timing.first_due = now + _IDLE
            case Urgency.WHOLE:
                timing.first_due = timing.arrival + self._audio_left(stream, first)
            case Urgency.LISTENING:
                timing.first_due = max(timing.arrival + FIRST_AUDIO_TARGET, self._heard_before(stream))
        timing.promised = timing.first_due
        measured = self._shared.ledger.of(stream.engine).measured
        # A sounding stream already has a cached beginning: a gap is better than a stream that is cut after that
        # beginning.
        had_a_place = timing.sounds or request.progress.left
        if measured and request.urgency is Urgency.LISTENING and not had_a_place:
            wish = self._wish(stream, first, now)
            timing.promised = wish.dry_at
            others = [self._demand(other, now) for other in self._listened_to()]
            threads = self._threads(stream.engine) * (1 - self._kept_from(request))
            wait = wait_for_room(now, others, wish, threads)
            if wait:
                raise Overloaded(f"The streams in progress leave no room in the next {wait:.1f} seconds.", wait)
        timing.admitted = True

    def _listened_to(self) -> Iterator[Stream]:
        """The admitted streams that were promised their samples in time."""
        for stream in self._shared.streams.values():
            if stream.timing.admitted and stream.request.urgency is Urgency.LISTENING:
                yield stream

    def _kept_from(self, request: SpeechRequest) -> float:
        """The share of the machine and of its places that the request may not take: it is kept for the turns of voice
        agents, whose texts grow while they are spoken."""
        return self._shared.settings.agent_reserve if request.growing is None else 0.0

    def load(self) -> float | None:
        """The work that is due divided by the work that is possible, over all admitted streams: 0 without streams,
        None while the engine's speed isn't measured."""
        now = time.monotonic()
        admitted = [stream for stream in self._shared.streams.values() if stream.timing.admitted]
        if not admitted:
            return 0.0
        if not all(self._shared.ledger.of(stream.engine).measured for stream in admitted):
            return None
        threads = self._threads(admitted[0].engine)
        # Without blocks: how long a newcomer's first segment takes says nothing about the machine's load.
        demands = [replace(self._demand(stream, now, share=1.0), block=0.0, upfront=0.0) for stream in admitted]
        return load(now, demands, threads)

    def _soonest_place(self) -> float:
        """Seconds until one of the open streams is likely to end, so that its place is free; at least 1."""
        together = max(1.0, self.load() or 1.0)
        left = [self._seconds_left(stream, together) for stream in self._shared.streams.values()]
        return max(1.0, min(left, default=0.0))

    def _seconds_left(self, stream: Stream, together: float) -> float:
        """Seconds until the stream's last sample has left: until it was made, on a machine that `together` streams
        share, and if its listener takes no more than they play, until that listener has played it."""
        audio = self._audio_left(stream)
        made = together * audio * self._shared.ledger.of(stream.engine).real_time_factor(speed=stream.request.speed)
        played = audio + stream.segments.ready / stream.engine.sample_rate if stream.playback.held_back else 0.0
        return max(made, played)

    def _heard_before(self, stream: Stream) -> float:
        """The time at which the same client's earlier requests, which came in a row and don't sound yet, will have been
        heard."""
        return max(
            (
                other.timing.promised + seconds
                for other in self._shared.streams.values()
                if other.timing.admitted
                and other.number < stream.number
                and other.request.client == stream.request.client
                and other.request.urgency is Urgency.LISTENING
                and not other.timing.sounds
                and (seconds := self._audio_left(other)) <= SENTENCE
            ),
            default=0.0,
        )

    def _wish(self, stream: Stream, first: StreamSegment, now: float) -> Demand:
        """The newcomer's demand.

        The newcomer may wait for a segment in the making and for its own: a machine that needs longer than the target
        even when idle still rejects nobody for that.
        """
        costs, concurrency = self._shared.ledger.of(stream.engine), stream.engine.concurrency
        tokens = first.segment.tokens
        own = costs.first_audio(tokens, first.speed, concurrency)
        block = stream.engine.first_block or costs.samples(tokens, first.speed) / stream.engine.sample_rate
        due = max(stream.timing.first_due, now + 2 * own + FIRST_AUDIO_TARGET)
        if stream.engine.first_block:
            due += FIRST_BLOCK_GRACE
        work, upfront = costs.real_time_factor(concurrency, stream.request.speed), self._upfront(stream, first)
        return Demand(due, self._audio_left(stream, first), work, block, upfront)

    def _demand(self, stream: Stream, now: float, share: float = LARGEST_SHARE) -> Demand:
        """An admitted stream's demand, of which at most a `share` of the machine counts."""
        costs, concurrency = self._shared.ledger.of(stream.engine), stream.engine.concurrency
        most = share * self._threads(stream.engine)
        missing = next((segment for segment in stream.segments if segment.state is not SegmentState.DONE), None)
        rest = (missing.length - missing.sealed) / stream.engine.sample_rate if missing else 0.0
        block = (stream.engine.first_block or rest) if missing else 0.0
        whole = costs.real_time_factor(concurrency, stream.request.speed)
        work = min(whole, most)
        upfront = self._upfront(stream, missing) * work / whole if missing else 0.0
        # A stream that has run dry is late by the length of its gap: its clock will be moved.
        return Demand(max(stream.timing.dry_at, now), self._audio_left(stream), work, block, upfront)

    def _upfront(self, stream: Stream, segment: StreamSegment) -> float:
        """Seconds of work of one inference thread before the segment's first window can be made."""
        if segment.sealed:
            return 0.0
        costs = self._shared.ledger.of(stream.engine)
        return costs.prosody(segment.segment.tokens, stream.engine.concurrency)

    def _threads(self, engine: EngineInfo) -> float:
        """Capacity of all workers that can make the stream, counted in inference threads of that engine.

        A worker of another speed counts by its measured speed; an unmeasured worker isn't counted.
        """
        one = self._shared.ledger.of(engine).real_time_factor(engine.concurrency)
        workers = [link.engine for link in self._shared.links.that_sound_like(engine)]
        models = [(each.concurrency, self._shared.ledger.of(each)) for each in workers]
        each = [n * one / costs.real_time_factor(n) for n, costs in models if costs.measured]
        return sum(each) or engine.concurrency

    def _audio_left(self, stream: Stream, first: StreamSegment | None = None) -> float:
        """Seconds of audio that are still to be made. Unread text counts as one token per character."""
        costs = self._shared.ledger.of(stream.engine)
        tokens = first.segment.tokens if first else 0
        unread = stream.text.unread - tokens
        planned = sum(segment.length - segment.sealed for segment in stream.segments)
        return (planned + costs.samples(tokens + max(unread, 0), stream.request.speed)) / stream.engine.sample_rate
