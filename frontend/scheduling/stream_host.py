"""The scheduler's services for its streams."""

from __future__ import annotations

from frontend.contract.urgency import Urgency
from frontend.monitoring.metrics import Event
from frontend.scheduling.dispatcher import Dispatcher
from frontend.scheduling.generations import Generations
from frontend.scheduling.intake import Intake
from frontend.scheduling.shared import Shared
from frontend.scheduling.watch import Watch
from frontend.streams.sealed_block import SealedBlock
from frontend.streams.stream import Stream
from shm.killpoint import killpoint


class StreamHost:
    """Implements `frontend.streams.stream.Host`."""

    def __init__(
        self, shared: Shared, intake: Intake, watch: Watch, dispatcher: Dispatcher, generations: Generations
    ) -> None:
        self._shared = shared
        self._intake = intake
        self._watch = watch
        self._dispatcher = dispatcher
        self._generations = generations

    async def fill(self, stream: Stream) -> None:
        """Implements `Host.fill`."""
        await self._intake.fill(stream)

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
