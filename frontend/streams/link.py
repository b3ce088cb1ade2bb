"""The front's end of a channel to one worker generation: orders out, commits in, blocks read from its arena."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from frontend.streams.loss import Loss
from shm.engine_info import EngineInfo
from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.messages import CommitMessage, Connect, Forget, OrderMessage, Release, SegmentOrder, decode_commit, encode
from shm.ring import Arena, RingReader


@dataclass(eq=False)
class Lease:
    """A stream's ring in one generation's arena, and the credit in it."""

    stream: int
    number: int
    """The number under which the worker knows it."""
    ring: int
    reader: RingReader
    capacity: int
    """Samples."""
    sealed: int = 0
    """Samples committed since the stream took the ring."""
    released: int = 0
    """Of those, samples that the listener has taken."""
    reserved: int = 0
    """Samples that dispatched segments are expected to need still."""
    last: int = -1
    """Index of the last segment that was dispatched into it: they lie in the ring in the order of the stream."""

    @property
    def room(self) -> int:
        """Samples that the next segment may need."""
        return self.capacity - (self.sealed - self.released) - self.reserved

    @property
    def full(self) -> bool:
        """The worker can write nothing more until the listener has taken some."""
        return self.sealed - self.released >= self.capacity

    @property
    def empty(self) -> bool:
        return self.sealed == self.released and self.reserved == 0


class Link:
    """One worker generation, as the front sees it.

    `on_record` gets every commit-channel message; `on_lost` is called once, when the channel broke: all that the
    worker sealed before it died was delivered by then.
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
            ValueError: the arena is smaller than `connect` says, or doesn't say who speaks.
        """
        orders, commits, memory = fds
        if connect.engine is None:
            raise ValueError("a channel without an engine")
        self.generation = connect.generation
        self.engine: EngineInfo = connect.engine
        self.draining = False
        self.in_worker = 0
        """Segments dispatched and not ended."""
        self.slot = connect.slot
        self.leases: dict[int, Lease] = {}
        """By stream: those that segments are dispatched into."""
        self._by_number: dict[int, Lease] = {}
        self._put_aside: dict[int, list[int]] = {}
        """By stream: rings in which only what was sealed is still wanted."""
        self._arena: Arena | None = Arena(memory, connect.rings, connect.ring_samples)
        os.close(memory)  # the mapping stays
        self._free = list(range(connect.rings))
        os.set_blocking(orders, False)
        os.set_blocking(commits, False)
        self._orders = FrameWriter(orders)
        self._commits = FrameReader(commits)
        self._on_record = on_record
        self._on_lost = on_lost
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(commits, self.read)

    def lease(self, stream: int) -> Lease | None:
        """The stream's ring; None if all are taken."""
        return self.leases.get(stream) or self._take_ring(stream, stream)

    def renew(self, stream: int, number: int, unread: bool) -> Lease | None:
        """Another ring for the stream; what it has in the present one stays readable, and nothing more is written
        there. None if all are taken.

        Args:
            number: one that the worker hasn't heard yet.
            unread: what was sealed in the present ring is still wanted there; else it may be the next one.
        """
        if unread and not self._free:
            return None
        self.leave(stream)
        if not unread:
            self._free.append(self._put_aside[stream].pop())
        return self._take_ring(stream, number)

    def leave(self, stream: int) -> None:
        """Nothing more is written for the stream, and what it has in its ring stays readable until it is forgotten."""
        if lease := self.leases.pop(stream, None):
            del self._by_number[lease.number]
            self._put_aside.setdefault(stream, []).append(lease.ring)
            self._send(Forget(lease.number))

    def has_ring(self, stream: int, index: int) -> bool:
        """The stream has one that segment `index` may follow in, or could have another."""
        lease = self.leases.get(stream)
        return (lease is not None and lease.last < index) or self.has_free_ring

    @property
    def has_free_ring(self) -> bool:
        return self._arena is not None and bool(self._free)

    def _take_ring(self, stream: int, number: int) -> Lease | None:
        if self._arena is None or not self._free:
            return None
        ring = self._free.pop()
        lease = Lease(stream, number, ring, RingReader(self._arena.ring(ring)), self._arena.ring_samples)
        self.leases[stream] = self._by_number[number] = lease
        return lease

    def stream_of(self, number: int) -> int | None:
        """The stream that the worker knows by that number; None for one that was forgotten."""
        lease = self._by_number.get(number)
        return lease.stream if lease else None

    def dispatch(self, order: SegmentOrder) -> None:
        self.in_worker += 1
        self._send(order)

    def release(self, lease: Lease, position: int) -> None:
        """The listener took everything before `position`."""
        lease.released = position
        if self._by_number.get(lease.number) is lease:
            self._send(Release(lease.number, position))

    def forget(self, stream: int) -> None:
        """Take the stream's rings back; the worker writes nothing for it once it has read this."""
        self.leave(stream)
        self._free += self._put_aside.pop(stream, [])

    def _send(self, message: OrderMessage) -> None:
        if not self._open:
            return
        # A worker that is gone is noticed by its commits channel, after what it still sealed was read.
        with contextlib.suppress(BrokenChannel):
            self._orders.send(encode(message))
            if self._orders.pending:
                self._loop.add_writer(self._orders.fd, self._flush)

    def _flush(self) -> None:
        with contextlib.suppress(BrokenChannel):
            self._orders.flush()
            if self._orders.pending:
                return
        self._loop.remove_writer(self._orders.fd)

    def read(self) -> None:
        """Take in what the worker has said."""
        try:
            for payload in self._commits.receive() if self._open else ():
                if self._open:  # else the record before this was the last that was believed
                    self._on_record(self, decode_commit(payload))
        except BrokenChannel as end:
            self.lose(str(end))
        except msgspec.MsgspecError as error:
            self.lose(f"a record that makes no sense: {error}")

    def lose(self, reason: str, loss: Loss = Loss.CRASH) -> None:
        """Close, and say so, and whether a segment that the worker had may be to blame.

        Blocks that were sealed stay readable as long as somebody holds them.
        """
        if self._open:
            self.close()
            self._on_lost(self, reason, loss)

    def close(self) -> None:
        """Give the descriptors back. Idempotent."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._commits.fd)
            self._loop.remove_writer(self._orders.fd)
            self._commits.close()
            self._orders.close()
            self.leases.clear()
            self._by_number.clear()
            self._arena = None  # lives on in the blocks that somebody holds
