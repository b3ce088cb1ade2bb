"""Who gets a place, and when the first sample is due.

A listener's is due a fraction of a second after the request came. Of one client's requests that came in a row and are
not heard yet, each is due when the one before it will have been heard: a burst of sentences keeps nobody else waiting
longer than one sentence does. What is collected whole before it is heard is due as late as if it were listened to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from frontend.contract.errors import Overloaded
from frontend.contract.urgency import Urgency
from frontend.planning.ledger import Ledger
from frontend.scheduling.demand import Demand, wait_for_room
from frontend.streams.planned import State
from frontend.streams.stream import Stream
from frontend.text.segment import Segment
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo

FIRST_AUDIO_TARGET = 0.3
"""Seconds from a request's arrival to its first sample: a newcomer's deadline."""

SENTENCE = 20.0
"""Seconds of audio up to which a request may be one of a row; a longer one is no reason to let the next wait."""

LARGEST_SHARE = 0.5
"""Of the machine that one stream can keep newcomers from. On a machine that is hardly faster than speech, or slower, a
long text takes all of it as long as it lasts; a short one beside it costs it a gap, and is worth that."""

_IDLE = 86_400.0
"""Seconds until something is due for which nobody waits."""


class Admission:
    """Keeps the promise that who is taken is served in time."""

    def __init__(
        self,
        streams: Mapping[int, Stream],
        ledger: Ledger,
        speakers: Callable[[EngineInfo], Sequence[EngineInfo]],
    ) -> None:
        """`speakers` gives the engines of all workers that could make what that engine does."""
        self._streams = streams
        self._ledger = ledger
        self._speakers = speakers

    def admit(self, stream: Stream, first: Segment) -> None:
        """Give the stream a place, and its first sample a time.

        Args:
            first: its first segment that must be made.

        Raises:
            Overloaded: it could not be served in time beside those who have a place; says when it could.
        """
        request = stream.request
        now = time.monotonic()
        match request.urgency:
            case Urgency.IDLE:
                stream.first_due = now + _IDLE
            case Urgency.WHOLE:
                stream.first_due = stream.arrival + self._audio_left(stream, first)
            case Urgency.LISTENING:
                stream.first_due = max(stream.arrival + FIRST_AUDIO_TARGET, self._heard_before(stream))
        account = self._ledger.of(stream.engine)
        stream.promised = stream.first_due
        # A gap is better than a stream that is cut after its cached beginning.
        if account.measured and request.urgency is not Urgency.IDLE and not stream.sounds:
            wish = self._wish(stream, first, now)
            stream.promised = wish.dry_at
            others = [self._demand(other, now) for other in self._streams.values() if other.admitted]
            wait = wait_for_room(now, others, wish, self._lanes(stream.engine))
            if wait:
                raise Overloaded(f"What is being spoken leaves no room for this in the next {wait:.1f} seconds.", wait)
        stream.admitted = True

    def seconds_left(self, stream: Stream) -> float:
        """Until all of its audio will have been made, were it alone."""
        return self._audio_left(stream) * self._ledger.of(stream.engine).costs.real_time_factor()

    def _heard_before(self, stream: Stream) -> float:
        """When those of the same client that came in a row before it, and aren't heard yet, will have been heard."""
        return max(
            (
                other.promised + seconds
                for other in self._streams.values()
                if other.admitted
                and other.number < stream.number
                and other.request.client == stream.request.client
                and other.request.urgency is Urgency.LISTENING
                and not other.sounds
                and (seconds := self._audio_left(other)) <= SENTENCE
            ),
            default=0.0,
        )

    def _wish(self, stream: Stream, first: Segment, now: float) -> Demand:
        """What the newcomer wants.

        It may wait for a segment that is in the making, and for its own: a machine that needs longer than the target
        when it is idle is no reason to refuse anybody.
        """
        costs, lanes = self._ledger.of(stream.engine).costs, stream.engine.concurrency
        speed = stream.speed(first)
        own = costs.first_audio(first.tokens, speed, lanes)
        block = stream.engine.first_block or costs.samples(first.tokens, speed) / SAMPLE_RATE
        due = max(stream.first_due, now + 2 * own + FIRST_AUDIO_TARGET)
        return Demand(due, self._audio_left(stream, first), costs.real_time_factor(lanes), block)

    def _demand(self, stream: Stream, now: float) -> Demand:
        costs, lanes = self._ledger.of(stream.engine).costs, stream.engine.concurrency
        share = LARGEST_SHARE * self._lanes(stream.engine)
        missing = next((segment for segment in stream.planned if segment.state is not State.DONE), None)
        block = stream.engine.first_block or (missing.length - missing.sealed) / SAMPLE_RATE if missing else 0.0
        work = min(costs.real_time_factor(lanes), share)
        # Who has run dry already is late by as much as it lasts: its clock will be moved.
        return Demand(max(stream.dry_at, now), self._audio_left(stream), work, block)

    def _lanes(self, engine: EngineInfo) -> float:
        """All workers that could make it, in lanes of that engine. What one of another speed can isn't promised before
        it was measured."""
        one = self._ledger.of(engine).costs.real_time_factor(engine.concurrency)
        accounts = [(each.concurrency, self._ledger.of(each)) for each in self._speakers(engine)]
        each = [n * one / account.costs.real_time_factor(n) for n, account in accounts if account.measured]
        return sum(each) or engine.concurrency

    def _audio_left(self, stream: Stream, first: Segment | None = None) -> float:
        """Seconds that are still to be made. Text that wasn't read yet counts a token a character."""
        costs = self._ledger.of(stream.engine).costs
        tokens = first.tokens if first else 0
        unread = 0 if stream.all_planned else len(stream.request.text) - stream.tokens_planned - tokens
        planned = sum(segment.length - segment.sealed for segment in stream.planned)
        return (planned + costs.samples(tokens + max(unread, 0), stream.request.speed)) / SAMPLE_RATE
