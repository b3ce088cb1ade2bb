"""The front's ends of the channels to worker generations, and the generations that new segments go to.

An end writes orders, reads commits, and reads blocks from its arena, whose rings are leased to streams. If several
engines are connected, every new stream gets the best one: a slot that came back with a lesser engine (espeak-ng after
Kokoro's files were removed, say) changes no stream's voice. A slot that is being restarted counts as its last engine,
until it comes back with another one or is given up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, auto

import msgspec

from shm.engine_info import EngineInfo
from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.messages import CommitMessage, Connect, Forget, OrderMessage, Release, SegmentOrder, decode_commit, encode
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

    def release_arena(self) -> None:
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
            self.rings.release_arena()


class Links:
    """Links by generation. A slot's newest generation is its current one; older ones finish their streams."""

    def __init__(self) -> None:
        self._by_generation: dict[int, Link] = {}
        self._current: dict[int, Link] = {}
        """Current link by slot."""
        self._last: dict[int, EngineInfo] = {}
        """Each slot's engine, or its last one before the worker died; the newest at the end."""
        self.ring_seconds = 0.0
        """Length of a ring, the same for all generations; 0 before the first one."""
        self._alike: dict[tuple[object, ...], list[Link]] = {}
        """Cached results of `that_sound_like`, cleared when a link is added or dropped: every turn asks for every
        stream."""

    def add(self, link: Link) -> None:
        """Take in a new generation, which replaces the current one of its slot."""
        self.ring_seconds = link.ring_seconds
        self._by_generation[link.generation] = link
        self._current[link.slot] = link
        self._last.pop(link.slot, None)
        self._last[link.slot] = link.engine
        self._alike.clear()

    def remember(self, slot: int, engine: EngineInfo) -> None:
        """Note the engine of a slot whose worker rests or is being started, unless the slot's last engine is known."""
        self._last.setdefault(slot, engine)

    def drop(self, link: Link) -> None:
        del self._by_generation[link.generation]
        if self._current.get(link.slot) is link:
            del self._current[link.slot]
        self._alike.clear()

    def find(self, generation: int) -> Link | None:
        return self._by_generation.get(generation)

    @property
    def all(self) -> list[Link]:
        """The current generations and those that finish their streams."""
        return list(self._by_generation.values())

    @property
    def current(self) -> list[Link]:
        """The newest generation of each slot, in the order of the slots."""
        return [self._current[slot] for slot in sorted(self._current)]

    def give_up(self, slots: Collection[int]) -> None:
        """Forget the engines of slots that aren't started again soon, so that no stream waits for them if there is
        another engine."""
        for slot in slots:
            if len(self._last) > 1:
                self._last.pop(slot, None)

    @property
    def best_engine(self) -> EngineInfo | None:
        """The engine for a new stream: the best one that speaks, or did a moment ago and is being restarted.

        The newest of several equal engines is chosen; if several workers have that engine, the lowest slot's worker.
        """
        best = max(reversed(self._last.values()), key=lambda engine: engine.rank, default=None)
        return next((link.engine for link in self.current if best and sound_alike(link.engine, best)), best)

    def that_sound_like(self, engine: EngineInfo) -> list[Link]:
        """The generations at which a stream of that engine may continue, since its voice must not change midway."""
        voice = _sound(engine)
        if voice not in self._alike:
            current = [link for link in self.current if sound_alike(link.engine, engine)]
            finishing = [link for link in self._by_generation.values() if sound_alike(link.engine, engine)]
            self._alike[voice] = current or finishing[:1]
        return self._alike[voice]


def sound_alike(one: EngineInfo, other: EngineInfo) -> bool:
    """True if both have the same model with the same voices, on any execution provider."""
    return _sound(one) == _sound(other)


def _sound(engine: EngineInfo) -> tuple[object, ...]:
    return engine.name, engine.model, engine.model_sha256, engine.voices, engine.voices_sha256
