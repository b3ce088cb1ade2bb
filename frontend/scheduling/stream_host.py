"""The scheduler's services for its streams."""

from __future__ import annotations

from frontend.contract.urgency import Urgency
from frontend.monitoring.metrics import Event
from frontend.scheduling.admission import Admission
from frontend.scheduling.dispatcher import Dispatcher
from frontend.scheduling.fingerprint import fingerprint
from frontend.scheduling.generations import Generations
from frontend.scheduling.shared import Shared
from frontend.scheduling.watch import Watch
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.planned import PlannedSegment
from frontend.streams.sealed_block import SealedBlock
from frontend.streams.speed import segment_speed
from frontend.streams.stream import Stream
from frontend.text.segment import Segment
from shm.killpoint import killpoint


class StreamHost:
    """Implements `frontend.streams.stream.Host`."""

    def __init__(
        self, shared: Shared, admission: Admission, watch: Watch, dispatcher: Dispatcher, generations: Generations
    ) -> None:
        self._shared = shared
        self._admission = admission
        self._watch = watch
        self._dispatcher = dispatcher
        self._generations = generations

    def plan(self, stream: Stream, segment: Segment) -> PlannedSegment:
        """Implements `Host.plan`."""
        request = stream.request
        performer = segment.performer or request.performer
        speed = segment_speed(request.speed, segment.rate)
        return PlannedSegment(
            segment,
            performer,
            speed,
            estimate=self._shared.ledger.of(stream.engine).costs.samples(segment.tokens, speed),
            key=fingerprint(stream.engine, segment.script, performer.language, performer.voice, speed),
            kept=None if request.fresh else [],
        )

    async def recall(self, stream: Stream, planned: PlannedSegment) -> CachedSegment | None:
        """Implements `Host.recall`."""
        if stream.request.fresh:
            return None
        found = await self._shared.cache.find(planned.key, marks=stream.request.timestamps)
        self._shared.metrics.cache_asked(found is not None)
        return found

    def admit(self, stream: Stream, first: PlannedSegment) -> None:
        """Implements `Host.admit`."""
        self._admission.admit(stream, first)

    def wake(self) -> None:
        """Implements `Host.wake`."""
        self._dispatcher.wake()

    def took(self, block: SealedBlock) -> None:
        """Implements `Host.took`."""
        if block.link is None:
            return
        block.give_back()
        killpoint("released")
        self._watch.sign_of_life(block.link)  # the link may have had no room for an order until now
        self._dispatcher.wake()

    def ran_dry(self, stream: Stream) -> None:
        """Implements `Host.ran_dry`: a gap counts only if somebody listens."""
        if stream.request.urgency is Urgency.LISTENING:
            self._shared.metrics.count(Event.UNDERRUN)

    def real_time_factor(self, stream: Stream) -> float | None:
        """Implements `Host.real_time_factor`: the engine's inference threads share the streams that are open."""
        account = self._shared.ledger.of(stream.engine)
        if not account.measured:
            return None
        threads = max(stream.engine.concurrency, 1)
        return account.costs.real_time_factor(threads) / threads * max(len(self._shared.streams), 1)

    def forget(self, stream: Stream) -> None:
        """Implements `Host.forget`."""
        if self._shared.streams.pop(stream.number, None) is None:
            return
        self._generations.forget(stream)
        self._dispatcher.wake()
