"""PCM rings: one arena per channel, divided into equal rings, one ring per stream.

    arena (shared memory, one per channel)
    +----------------+----------------+- ... -+------------------+
    |     ring 0     |     ring 1     |       | ring (rings - 1) |
    +----------------+----------------+- ... -+------------------+
           |
           v            released            position
    +------+---------------+--------------------+----------------+
    |      |  free (1)     |  sealed, unread (2) |  free (1)     |   capacity samples, int16
    +------+---------------+--------------------+----------------+
                           ^ index = released % capacity          a block that reaches the end continues at the start

Positions count samples since the stream took the ring; they only grow. The state of a sample is

1. *free*: the worker may write it. The sample isn't committed yet, so nobody reads it;
2. *sealed*: its `Commit` was sent after it was written. The worker leaves it alone until a `Release` passes it.

The memory itself doesn't hold these states: `position` lives in the worker and travels in `Commit`, `released`
lives in the front (frontend process) and travels in `Release`. Only a system call orders two processes' stores on
x86 and ARM alike, so no flag in shared memory is ever trusted. The `Commit` carries a CRC of the block, which the
front checks before it uses a single sample.
"""

from __future__ import annotations

import mmap
import zlib

import numpy as np

from shm.audio import SAMPLE_BYTES, Pcm
from shm.killpoint import killpoint


class TornBlock(Exception):
    """The samples in the ring differ from those that the commit describes."""


class Arena:
    """Mapping of a channel's shared memory.

    Views into the mapping stay valid as long as they live, even after the file descriptor was closed and the worker
    that wrote there has died.
    """

    def __init__(self, fd: int, rings: int, ring_samples: int) -> None:
        """Map `rings` rings of `ring_samples` samples each.

        Raises:
            ValueError: the shared memory is smaller than that.
        """
        self.rings = rings
        self.ring_samples = ring_samples
        memory = mmap.mmap(fd, rings * ring_samples * SAMPLE_BYTES)
        self._samples: Pcm = np.frombuffer(memory, dtype="<i2").reshape(rings, ring_samples)

    def ring(self, index: int) -> Pcm:
        """Samples of one ring, shape [ring_samples]."""
        ring: Pcm = self._samples[index]
        return ring


class RingWriter:
    """Worker's end of a ring: writes blocks where the front has released room."""

    def __init__(self, memory: Pcm) -> None:
        self._memory = memory
        self._position = 0
        self._released = 0

    @property
    def room(self) -> int:
        """Number of samples that may be written now."""
        return len(self._memory) - (self._position - self._released)

    def write(self, samples: Pcm) -> tuple[int, int]:
        """Copy `samples` into the ring; returns the block's position and CRC for the `Commit` that has to follow.

        Raises:
            ValueError: the ring has less room than that; nothing was written.
        """
        if len(samples) > self.room:
            raise ValueError(f"{len(samples)} samples don't fit into {self.room}")
        start = self._position
        at = start % len(self._memory)
        head = min(len(samples), len(self._memory) - at)
        self._memory[at : at + head] = samples[:head]
        killpoint("ring-half")
        self._memory[: len(samples) - head] = samples[head:]
        self._position += len(samples)
        return start, zlib.crc32(np.ascontiguousarray(samples, dtype="<i2").data)

    def release(self, position: int) -> None:
        """Free the room before `position`, which the front has read.

        Raises:
            ValueError: `position` goes backwards, or past the written samples.
        """
        if not self._released <= position <= self._position:
            raise ValueError(f"release of {position} outside {self._released}..{self._position}")
        self._released = position


class RingReader:
    """Front's end of a ring: reads the blocks that commits describe."""

    def __init__(self, memory: Pcm) -> None:
        self._memory = memory

    def sealed(self, position: int, samples: int, crc32: int) -> tuple[Pcm, ...]:
        """The committed block as one view, or two if it wraps round; checked before it is returned.

        Raises:
            TornBlock: the commit is impossible, or its CRC differs from that of the samples.
        """
        if not 0 < samples <= len(self._memory) or position < 0:
            raise TornBlock(f"a block of {samples} samples at {position} in a ring of {len(self._memory)}")
        at = position % len(self._memory)
        head = self._memory[at : at + samples]
        pieces = (head,) if len(head) == samples else (head, self._memory[: samples - len(head)])
        found = 0
        for piece in pieces:
            found = zlib.crc32(piece.data, found)
        if found != crc32:
            raise TornBlock(f"CRC {found:08x} of {samples} samples at {position}, committed as {crc32:08x}")
        return pieces
