"""The rings of one generation's arena, and the streams that hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shm.ring import Arena, RingReader


@dataclass(eq=False)
class Lease:
    """A stream's use of one ring in a generation's arena, and the free space in it."""

    stream: int
    number: int
    """The worker's number for the stream: the stream's own number, or another one after `Rings.renew`."""
    ring: int
    reader: RingReader
    capacity: int
    """The ring's size in samples."""
    sealed: int = 0
    """Samples committed since the stream took the ring."""
    released: int = 0
    """Samples of `sealed` that the listener has taken."""
    reserved: int = 0
    """Samples of room that dispatched segments are expected to need still."""
    last: int = -1
    """Index of the last segment dispatched into the ring: segments lie there in the order of the stream."""

    @property
    def room(self) -> int:
        """Samples of room that are neither unread nor reserved, free for the next segment."""
        return self.capacity - (self.sealed - self.released) - self.reserved

    @property
    def full(self) -> bool:
        """True if the worker can write nothing more until the listener has taken samples."""
        return self.sealed - self.released >= self.capacity

    @property
    def empty(self) -> bool:
        """True if all samples were taken and no more are expected."""
        return self.sealed == self.released and self.reserved == 0


class Rings:
    """Leases each ring to one stream at a time, and takes it back when the stream is forgotten."""

    def __init__(self, arena: Arena, forget: Callable[[int], None]) -> None:
        """`forget` tells the worker to stop writing for the stream with that number."""
        self.leases: dict[int, Lease] = {}
        """The lease of each stream: the ring that its segments are dispatched into."""
        self._by_number: dict[int, Lease] = {}
        self._put_aside: dict[int, list[int]] = {}
        """Rings of each stream that still hold wanted sealed samples, and are no longer written to."""
        self._arena: Arena | None = arena
        self._free = list(range(arena.rings))
        self._forget = forget

    def lease(self, stream: int) -> Lease | None:
        """The stream's lease, taken now if it has none; None if all rings are taken."""
        return self.leases.get(stream) or self._take(stream, stream)

    def renew(self, stream: int, number: int, unread: bool) -> Lease | None:
        """Give the stream another ring. Samples in its present ring stay readable, but the worker stops writing there.

        Returns None if all rings are taken.

        Args:
            number: one that the worker hasn't heard as a stream's yet.
            unread: sealed samples in the present ring are still wanted; else that ring may be the next one too.
        """
        if unread and not self._free:
            return None
        self.leave(stream)
        if not unread:
            self._free.append(self._put_aside[stream].pop())
        return self._take(stream, number)

    def leave(self, stream: int) -> None:
        """Make the worker stop writing for the stream; samples in its ring stay readable until `forget`."""
        if lease := self.leases.pop(stream, None):
            del self._by_number[lease.number]
            self._put_aside.setdefault(stream, []).append(lease.ring)
            self._forget(lease.number)

    def forget(self, stream: int) -> None:
        """Take the stream's rings back; the worker stops writing for the stream once it has read the message."""
        self.leave(stream)
        self._free += self._put_aside.pop(stream, [])

    def can_hold(self, stream: int, index: int) -> bool:
        """True if the stream has a ring in which segment `index` may follow, or could get another ring."""
        lease = self.leases.get(stream)
        return (lease is not None and lease.last < index) or self.has_free

    @property
    def has_free(self) -> bool:
        return self._arena is not None and bool(self._free)

    def is_written(self, lease: Lease) -> bool:
        """True if the worker still writes to that ring."""
        return self._by_number.get(lease.number) is lease

    def stream_of(self, number: int) -> int | None:
        lease = self._by_number.get(number)
        return lease.stream if lease else None

    def close(self) -> None:
        """Release the arena; its memory lives on while blocks refer to it."""
        self.leases.clear()
        self._by_number.clear()
        self._arena = None

    def _take(self, stream: int, number: int) -> Lease | None:
        if self._arena is None or not self._free:
            return None
        ring = self._free.pop()
        lease = Lease(stream, number, ring, RingReader(self._arena.ring(ring)), self._arena.ring_samples)
        self.leases[stream] = self._by_number[number] = lease
        return lease
