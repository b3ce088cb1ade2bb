"""The supervisor's side of a front's connections, in the test's own event loop."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

from shm.handover import Handover, handover_pair
from shm.listeners import Listeners
from supervisor.processes.connections import ClientConnections
from supervisor.processes.timers import Timers
from tests.frontend.http_fakes import DEFAULT_TIMEOUT


async def turn() -> None:
    """Let the event loop turn once."""
    await asyncio.sleep(0)


class HandedOver:
    """The supervisor's connections, and the channel of the one front that gets them."""

    def __init__(self, listeners: Listeners) -> None:
        self.timers = Timers(time.monotonic)
        self.connections = ClientConnections(listeners, self.timers)
        self._loop = asyncio.get_running_loop()
        self.goes_on()
        self._channels: list[Handover] = []

    def front(self) -> Handover:
        """The channel of a new front, which gets every connection from now on."""
        ours, theirs = handover_pair()
        self.connections.joined(ours)
        self.connections.serves(ours)
        channel = Handover(theirs)
        self._channels += (ours, channel)
        return channel

    def dies(self) -> None:
        """The front that was made last is dead, and no other serves."""
        self.connections.left(self._channels[-2], died=True)

    async def nothing_kept(self) -> None:
        """Wait until the supervisor, whose server ends, has closed its copy of each connection, as it must once the
        front has closed its own or given it back."""
        self.connections.stop_listening()
        self.connections.serves(None)
        async with asyncio.timeout(DEFAULT_TIMEOUT):
            while len(self.connections):
                await turn()

    def stands_still(self) -> None:
        """The supervisor is stopped."""
        self._loop.remove_reader(self.connections.fileno())

    def goes_on(self) -> None:
        """The supervisor is stopped no more."""
        self._loop.add_reader(self.connections.fileno(), self._turn)

    def _turn(self) -> None:
        self.connections.turn()
        self.timers.run_due()
        if self.timers.next is not None:
            self._loop.call_at(self.timers.next, self._turn)

    def close(self) -> None:
        self.stands_still()
        self.connections.close()
        for channel in self._channels:
            channel.close()


@contextmanager
def handed_over(listeners: Listeners) -> Iterator[HandedOver]:
    given = HandedOver(listeners)
    try:
        yield given
    finally:
        given.close()
