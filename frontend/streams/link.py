"""The front's end of a channel to one worker generation: writes orders, reads commits, reads blocks from the arena."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from enum import Enum, auto

import msgspec

from frontend.streams.rings import Lease, Rings
from shm.engine_info import EngineInfo
from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.messages import CommitMessage, Connect, Forget, OrderMessage, Release, SegmentOrder, decode_commit, encode
from shm.ring import Arena


class Loss(Enum):
    """The cause of a loss, which tells if a segment in the making may be to blame."""

    CRASH = auto()
    """The worker died or broke the protocol: a segment may be the cause."""
    HANG = auto()
    """The front's own watchdog judged the worker to hang. The verdict may be wrong, so no text is quarantined for
    it."""
    INNOCENT = auto()
    """The worker ended on its own account: no segment is to blame."""


class Link:
    """The front's connection to one worker generation.

    `on_record` gets every message of the commits channel. `on_lost` is called once, when the channel breaks: by then
    all blocks that the worker sealed before it died have been delivered.
    """

    def __init__(
        self,
        connect: Connect,
        fds: list[int],
        on_record: Callable[[Link, CommitMessage], None],
        on_lost: Callable[[Link, str, Loss], None],
    ) -> None:
        """Take over the descriptors: orders pipe's write end, commits pipe's read end, arena.

        Raises:
            ValueError: the arena is smaller than `connect` states, or `connect` names no engine.
        """
        orders, commits, memory = fds
        if connect.engine is None:
            raise ValueError("a channel without an engine")
        self.generation = connect.generation
        self.engine: EngineInfo = connect.engine
        self.draining = False
        self.in_worker = 0
        """Segments that the worker was given and hasn't ended."""
        self.slot = connect.slot
        self.ring_seconds = connect.ring_samples / self.engine.sample_rate
        self.rings = Rings(Arena(memory, connect.rings, connect.ring_samples), self._forget_number)
        os.close(memory)  # the mapping stays after the descriptor is closed
        os.set_blocking(orders, False)
        os.set_blocking(commits, False)
        self._orders = FrameWriter(orders)
        self._commits = FrameReader(commits)
        self._on_record = on_record
        self._on_lost = on_lost
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(commits, self.read)

    def dispatch(self, order: SegmentOrder) -> None:
        self.in_worker += 1
        self._send(order)

    def release(self, lease: Lease, position: int) -> None:
        """Tell the worker that the listener has taken all samples before `position`, if the worker still writes to the
        ring."""
        lease.released = position
        if self.rings.is_written(lease):
            self._send(Release(lease.number, position))

    def _forget_number(self, number: int) -> None:
        self._send(Forget(number))

    def _send(self, message: OrderMessage) -> None:
        if not self._open:
            return
        # The commits channel reports the worker's end, after the last sealed blocks were read.
        with contextlib.suppress(BrokenChannel):
            self._orders.write_frame(encode(message))
            if self._orders.pending:
                self._loop.add_writer(self._orders.fd, self._flush)

    def _flush(self) -> None:
        with contextlib.suppress(BrokenChannel):
            self._orders.flush()
            if self._orders.pending:
                return
        self._loop.remove_writer(self._orders.fd)

    def read(self) -> None:
        try:
            for payload in self._commits.receive() if self._open else ():
                if self._open:  # else an earlier record broke the protocol, and no later one is trusted
                    self._on_record(self, decode_commit(payload))
        except BrokenChannel as end:
            self.lose(str(end))
        except msgspec.MsgspecError as error:
            self.lose(f"a record that makes no sense: {error}")

    def lose(self, reason: str, loss: Loss = Loss.CRASH) -> None:
        """Close, and call `on_lost`. Sealed blocks stay readable as long as any object holds them.

        Args:
            loss: how the generation was lost; it tells whether a segment that the worker had may be the cause.
        """
        if self._open:
            self.close()
            self._on_lost(self, reason, loss)

    def close(self) -> None:
        """Close the descriptors. Idempotent."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._commits.fd)
            self._loop.remove_writer(self._orders.fd)
            self._commits.close()
            self._orders.close()
            self.rings.close()
