"""The dispatcher: gives segments to workers, nearest deadline first. `Dispatcher.wake` is the front's main loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from frontend.contract.errors import Broken, Unavailable
from frontend.monitoring.metrics import Event
from frontend.planning.planner import Limits
from frontend.scheduling import turns
from frontend.scheduling.isolation import Isolation, isolate
from frontend.scheduling.orders import Orders
from frontend.scheduling.placement import Placement
from frontend.scheduling.planned_segment import planned_segment
from frontend.scheduling.replanning import plan_again
from frontend.scheduling.shared import Shared
from frontend.scheduling.standing import EngineStanding
from frontend.scheduling.watch import Watch
from frontend.streams.link import Link
from frontend.streams.links import sound_alike
from frontend.streams.planned import PlannedSegment
from frontend.streams.stream import Stream


class Dispatcher:
    """Sends segments to workers. Every event that may make a segment dispatchable wakes it; between events it does
    nothing."""

    def __init__(self, shared: Shared, standing: EngineStanding, watch: Watch, number: Callable[[], int]) -> None:
        """`number` returns a stream number that no worker has seen yet."""
        self._shared = shared
        self._standing = standing
        self._placement = Placement(shared.streams, shared.ledger)
        self._orders = Orders(shared, watch, number)
        self._limits = Limits(min_first_tokens=shared.settings.min_first_tokens)

    def wake(self) -> None:
        """Dispatch every segment that can be dispatched: plan again, reject quarantined ones, isolate a suspect,
        send."""
        self._standing.look()
        self._placement.look()
        self._plan_again()
        waiting = turns.waiting(self._shared.streams)
        self._refuse_quarantined([(stream, segment) for _, stream, segment in waiting])
        isolation = self._isolate()
        for deadline, stream, segment in waiting:
            link = None if stream.failed else self.link_for(stream)
            if link and turns.may_go(link, stream, segment, isolation):
                self._send(link, stream, segment, deadline)

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
            account = self._shared.ledger.of(engine)
            if change := plan_again(stream, time.monotonic(), account, engine.concurrency, self._limits):
                replaced, segments = change
                plans = [planned_segment(stream, segment, self._shared.ledger) for segment in segments]
                stream.segments.replace(replaced, plans)
                self._shared.metrics.count(Event.REPLANNED)

    def _refuse_quarantined(self, waiting: Sequence[tuple[Stream, PlannedSegment]]) -> None:
        """Fail each stream whose next segment is known to kill workers."""
        for stream, segment in waiting:
            if segment.key in self._shared.quarantine:
                stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))

    def _isolate(self) -> Isolation | None:
        """Choose the suspect segment to be made alone, if any, and keep other segments from its worker."""
        self._placement.isolation = None  # else the suspect's own worker would be no place for it
        self._placement.isolation = isolate(self._shared.streams, self.link_for)
        return self._placement.isolation

    def _send(self, link: Link, stream: Stream, segment: PlannedSegment, deadline: float) -> None:
        if self._orders.send_order(link, stream, segment, deadline):
            self._placement.look()

    def link_for(self, stream: Stream) -> Link | None:
        """The worker for the stream's next segment; None while no worker has the engine that the stream began with.

        A stream whose engine was replaced by another one fails: its voice must not change midway.
        """
        links = self._shared.links
        if alike := links.that_sound_like(stream.engine):
            return self._placement.choose(alike, stream)
        voice = links.voice
        if links.current and voice and not sound_alike(voice, stream.engine):
            reason = f"{stream.engine.name} has given way to {voice.name}"
            stream.fail(Broken(reason) if stream.playback.begun else Unavailable(reason, self._standing.retry_after))
        return None
