"""Channels between a front and a worker: created here, and kept open by the supervisor only until they are passed
on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shm.audio import SAMPLE_BYTES
from shm.memory import reserve


@dataclass(frozen=True, slots=True)
class ChannelEnds:
    """The descriptors of a channel, three on each side: orders pipe, commits pipe, arena."""

    front: tuple[int, int, int]
    worker: tuple[int, int, int]


@contextmanager
def channel(rings: int, ring_samples: int) -> Iterator[ChannelEnds]:
    """A new channel. The supervisor's own descriptors close when the block ends, so that the surviving side sees EOF.

    Raises:
        shm.memory.NoMemory: the arena can't be reserved.
    """
    arena = reserve(rings * ring_samples * SAMPLE_BYTES)
    orders_read, orders_write = os.pipe()
    commits_read, commits_write = os.pipe()
    try:
        yield ChannelEnds((orders_write, commits_read, arena), (orders_read, commits_write, arena))
    finally:
        for fd in (arena, orders_read, orders_write, commits_read, commits_write):
            os.close(fd)
