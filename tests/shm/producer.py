"""A real producer process at the other end of a real channel, and the reader's end of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import multiprocess

from shm.control import ControlSocket, control_pair
from shm.frames import FrameReader, FrameWriter
from shm.messages import Commit, Connect, Release, decode_commit, encode
from shm.ring import Arena, RingReader
from supervisor.processes.fronts import channel
from tests.shm.children import RING, STREAM, produce


@dataclass
class Producer:
    """The front's ends of a worker's channel."""

    process: Any
    control: ControlSocket
    orders: FrameWriter
    commits: FrameReader
    arena: Arena
    connected: bool = True

    @property
    def ring(self) -> RingReader:
        return RingReader(self.arena.ring(0))

    def committed(self, count: int) -> list[Commit]:
        """The next `count` commits; the producer sends no more than that unasked."""
        received: list[Commit] = []
        while len(received) < count:
            received += self.receive()
        return received

    def receive(self) -> list[Commit]:
        """The records of one read; blocks until there is one."""
        commits = [decode_commit(payload) for payload in self.commits.receive()]
        assert all(isinstance(commit, Commit) for commit in commits)
        return commits  # type: ignore[return-value]

    def release(self, position: int) -> None:
        self.orders.write_frame(encode(Release(STREAM, position)))

    def hang_up(self) -> None:
        """Close this side of the channel. Idempotent."""
        if self.connected:
            self.connected = False
            self.orders.close()
            self.commits.close()


@contextmanager
def producer(kill_point: str) -> Iterator[Producer]:
    """Spawn a producer and pass it its ends, as the supervisor does."""
    control, control_end = control_pair()
    process = multiprocess.get_context("spawn").Process(target=produce, args=(control_end, kill_point))
    process.start()
    control_end.close()
    with channel(1, RING) as ends:
        control.send(Connect(1, 1, RING), ends.worker)
        orders, commits, memory = (os.dup(fd) for fd in ends.front)
    arena = Arena(memory, 1, RING)
    os.close(memory)
    front = Producer(process, control, FrameWriter(orders), FrameReader(commits), arena)
    try:
        yield front
    finally:
        process.kill()
        process.join()
        process.close()
        control.close()
        front.hang_up()
