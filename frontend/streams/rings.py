"""The rings of one generation's arena, and the streams that hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shm.ring import Arena, RingReader


@dataclass(eq=False)
class Lease:
    """A stream's hold of one ring in a generation's arena, and the credit in it."""

    stream: int
    number: int
    """The number under which the worker knows the stream: the stream's own, or another one after `Link.renew`."""
    ring: int
    reader: RingReader
    capacity: int
    """Samples."""
    sealed: int = 0
    """Samples committed since the stream took the ring."""
    released: int = 0
    """Samples that the listener has taken, out of those."""
    reserved: int = 0
    """Room, in samples, that dispatched segments are expected to need still."""
    last: int = -1
    """Index of the last segment that was dispatched into the ring: segments lie there in the order of the stream."""

    @property
    def room(self) -> int:
        """Samples that are neither unread nor reserved: the next segment may have them."""
        return self.capacity - (self.sealed - self.released) - self.reserved

    @property
    def full(self) -> bool:
        """Whether the worker can write nothing more until the listener has taken some."""
        return self.sealed - self.released >= self.capacity

    @property
    def empty(self) -> bool:
        """Whether everything was taken and nothing more is expected."""
        return self.sealed == self.released and self.reserved == 0


class Rings:
    """Gives rings to streams, one at a time to each, and takes them back when the stream is forgotten."""

    def __init__(self, arena: Arena, forget: Callable[[int], None]) -> None:
        """`forget` tells the worker to write nothing more for the stream that it knows by that number."""
        self.leases: dict[int, Lease] = {}
        """By stream: the ring that its segments are dispatched into."""
        self._by_number: dict[int, Lease] = {}
        self._put_aside: dict[int, list[int]] = {}
        """By stream: rings in which only sealed samples are still wanted, and nothing more is written."""
        self._arena: Arena | None = arena
        self._free = list(range(arena.rings))
        self._forget = forget

    def lease(self, stream: int) -> Lease | None:
        """The stream's ring, taken now if it has none; None if all rings are taken."""
        return self.leases.get(stream) or self._take(stream, stream)

    def renew(self, stream: int, number: int, unread: bool) -> Lease | None:
        """Give the stream another ring. Its samples in the present one stay readable; nothing more is written there.

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
        """Have nothing more written for the stream; its samples in the ring stay readable until `forget`."""
        if lease := self.leases.pop(stream, None):
            del self._by_number[lease.number]
            self._put_aside.setdefault(stream, []).append(lease.ring)
            self._forget(lease.number)

    def forget(self, stream: int) -> None:
        """Take the stream's rings back; the worker writes nothing for it once it has read this."""
        self.leave(stream)
        self._free += self._put_aside.pop(stream, [])

    def can_hold(self, stream: int, index: int) -> bool:
        """Whether the stream has a ring that segment `index` may follow in, or could have another one."""
        lease = self.leases.get(stream)
        return (lease is not None and lease.last < index) or self.has_free

    @property
    def has_free(self) -> bool:
        """Whether a ring is free for any stream."""
        return self._arena is not None and bool(self._free)

    def is_written(self, lease: Lease) -> bool:
        """Whether the worker still writes into that ring."""
        return self._by_number.get(lease.number) is lease

    def stream_of(self, number: int) -> int | None:
        """The stream that the worker knows by that number; None if it was forgotten."""
        lease = self._by_number.get(number)
        return lease.stream if lease else None

    def close(self) -> None:
        """Let go of the arena; it lives on in the blocks that somebody holds."""
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
