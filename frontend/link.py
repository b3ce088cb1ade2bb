"""The front's end of a channel to one worker generation: jobs out, commits in, blocks read from its arena."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.messages import (
    CommitMessage,
    Connect,
    EngineInfo,
    Forget,
    Job,
    JobMessage,
    Release,
    decode_commit,
    encode,
)
from shm.ring import Arena, RingReader


@dataclass(eq=False)
class Lease:
    """A stream's ring in one generation's arena, and the credit in it."""

    job: int
    ring: int
    reader: RingReader
    capacity: int
    """Samples."""
    sealed: int = 0
    """Samples committed since the job took the ring."""
    released: int = 0
    """Of those, samples that the listener has taken."""
    promised: int = 0
    """Samples that dispatched segments are expected to need still."""

    @property
    def room(self) -> int:
        """Samples that the next segment may need."""
        return self.capacity - (self.sealed - self.released) - self.promised

    @property
    def empty(self) -> bool:
        return self.sealed == self.released and self.promised == 0


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
        on_lost: Callable[[Link, str, bool], None],
    ) -> None:
        """Take over the descriptors: jobs pipe's write end, commits pipe's read end, arena.

        Raises:
            ValueError: the arena is smaller than `connect` says, or doesn't say who speaks.
        """
        jobs, commits, memory = fds
        if connect.engine is None:
            raise ValueError("a channel without an engine")
        self.generation = connect.generation
        self.engine: EngineInfo = connect.engine
        self.draining = False
        self.in_worker = 0
        """Segments dispatched and not ended."""
        self.leases: dict[int, Lease] = {}
        self._arena: Arena | None = Arena(memory, connect.rings, connect.ring_samples)
        os.close(memory)  # the mapping stays
        self._free = list(range(connect.rings))
        os.set_blocking(jobs, False)
        os.set_blocking(commits, False)
        self._jobs = FrameWriter(jobs)
        self._commits = FrameReader(commits)
        self._on_record = on_record
        self._on_lost = on_lost
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(commits, self.read)

    def lease(self, job: int) -> Lease | None:
        """The job's ring; None if all are taken."""
        if found := self.leases.get(job):
            return found
        if self._arena is None or not self._free:
            return None
        ring = self._free.pop()
        lease = Lease(job, ring, RingReader(self._arena.ring(ring)), self._arena.ring_samples)
        self.leases[job] = lease
        return lease

    def dispatch(self, job: Job) -> None:
        self.in_worker += 1
        self._send(job)

    def release(self, lease: Lease, position: int) -> None:
        """The listener took everything before `position`."""
        lease.released = position
        if self.leases.get(lease.job) is lease:
            self._send(Release(lease.job, position))

    def forget(self, job: int) -> None:
        """Take the job's ring back; the worker writes nothing for it once it has read this."""
        if lease := self.leases.pop(job, None):
            self._free.append(lease.ring)
            self._send(Forget(job))

    def _send(self, message: JobMessage) -> None:
        if not self._open:
            return
        # A worker that is gone is noticed by its commits channel, after what it still sealed was read.
        with contextlib.suppress(BrokenChannel):
            self._jobs.send(encode(message))
            if self._jobs.pending:
                self._loop.add_writer(self._jobs.fd, self._flush)

    def _flush(self) -> None:
        with contextlib.suppress(BrokenChannel):
            self._jobs.flush()
            if self._jobs.pending:
                return
        self._loop.remove_writer(self._jobs.fd)

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

    def lose(self, reason: str, to_blame: bool = True) -> None:
        """Close, and say so, and whether a segment that the worker had may be to blame.

        Blocks that were sealed stay readable as long as somebody holds them.
        """
        if self._open:
            self.close()
            self._on_lost(self, reason, to_blame)

    def close(self) -> None:
        """Give the descriptors back. Idempotent."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._commits.fd)
            self._loop.remove_writer(self._jobs.fd)
            self._commits.close()
            self._jobs.close()
            self.leases.clear()
            self._arena = None  # lives on in the blocks that somebody holds
