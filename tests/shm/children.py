"""Functions that the spawned processes of these tests run. Nothing of pytest's is imported here: they start sooner."""

import ctypes
import os
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

import multiprocess
import numpy as np
from multiprocess.connection import Connection

from shm.audio import Pcm
from shm.control import ControlSocket
from shm.frames import FrameReader, FrameWriter
from shm.lifeline import die_with_supervisor, leave_ending_to_supervisor
from shm.messages import Commit, Connect, Release, decode_order, encode
from shm.ring import Arena, RingWriter

STREAM = 1
RING = 1000
BLOCK = 300
UNASKED = 3
"""Blocks that a producer commits on its own. It waits for a `Release` before the next: that one wraps."""

DEADLY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

KILLED_IN_FIRST_PIECE = "in the first piece of the samples"
KILLED_BETWEEN_PIECES = "between the two pieces of the samples"
KILLED_BEFORE_WRITING = "before the samples"
KILLED_BEFORE_COMMIT = "between samples and commit"
KILLED_IN_COMMIT = "in the commit's frame"
KILLED_AFTER_COMMIT = "after the commit"


def numbered(start: int, count: int) -> Pcm:
    """Samples `start` to `start + count` of the source, shape [count]."""
    return ((np.arange(start, start + count) * 7919 + 13) & 0xFFFF).astype(np.uint16).view(np.int16)


def joined(pieces: tuple[Pcm, ...]) -> list[int]:
    return [int(sample) for piece in pieces for sample in piece]


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


class DyingMemory:
    """A ring in which the writer can be killed while it copies samples."""

    def __init__(self, ring: Pcm) -> None:
        self.kill_point = ""
        self._ring = ring

    def __len__(self) -> int:
        return len(self._ring)

    def __setitem__(self, place: slice, samples: Pcm) -> None:
        if self.kill_point == KILLED_IN_FIRST_PIECE:
            half = len(samples) // 2
            self._ring[place][:half] = samples[:half]
            die()
        self._ring[place] = samples
        if self.kill_point == KILLED_BETWEEN_PIECES:
            die()


def produce(control_end: socket.socket, kill_point: str) -> None:
    """Commit `UNASKED` blocks; at the first `Release` one more, and be killed at `kill_point` meanwhile."""
    ((connect, (orders_fd, commits_fd, memory_fd)),) = ControlSocket(control_end).receive()
    assert isinstance(connect, Connect)
    orders, commits = FrameReader(orders_fd), FrameWriter(commits_fd)
    memory: Any = DyingMemory(Arena(memory_fd, connect.rings, connect.ring_samples).ring(0))
    os.close(memory_fd)
    writer = RingWriter(memory)
    for block in range(UNASKED):
        commits.write_frame(written(writer, block))
    for message in map(decode_order, orders.receive()):
        assert isinstance(message, Release)
        writer.release(message.position)
    memory.kill_point = kill_point
    if kill_point == KILLED_BEFORE_WRITING:
        die()
    commit = written(writer, UNASKED)
    if kill_point == KILLED_BEFORE_COMMIT:
        die()
    if kill_point == KILLED_IN_COMMIT:
        frame = struct.pack("!I", len(commit)) + commit
        os.write(commits_fd, frame[: len(frame) // 2])
        die()
    commits.write_frame(commit)
    die()


def written(writer: RingWriter, block: int) -> bytes:
    """Write one block of the source; its commit in bytes."""
    offset = block * BLOCK
    position, crc32 = writer.write(numbered(offset, BLOCK))
    return encode(Commit(1, STREAM, 0, offset, position, BLOCK, crc32))


def tied(lifeline: Connection, talk: Connection) -> None:
    """Tied to the lifeline as a real child is; answers whatever it hears."""
    for number in DEADLY:
        signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore one, as nohup does
    leave_ending_to_supervisor()
    die_with_supervisor(os.dup(lifeline.fileno()))
    talk.send("tied")
    while True:
        talk.send(talk.recv())


def supervise(report: Connection, witness: Connection, how: str) -> None:
    """Start a child that is tied to this process and alone holds `witness`; report its pid; wait to be killed."""
    context = multiprocess.get_context("spawn")
    lifeline_end, lifeline = context.Pipe(duplex=False)
    ready, says_ready = context.Pipe(duplex=False)
    child = context.Process(target=depend, args=(lifeline_end, says_ready, witness, how))
    child.start()
    lifeline_end.close()
    says_ready.close()
    witness.close()
    ready.recv()
    if how == "stopped":
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
    report.send(child.pid)
    signal.pause()
    lifeline.close()


def depend(lifeline: Connection, says_ready: Connection, witness: Connection, how: str) -> None:
    """Be busy until the end that `die_with_supervisor` brings; `witness` closes with this process."""
    die_with_supervisor(os.dup(lifeline.fileno()))
    if how == "without PDEATHSIG" and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    says_ready.send("tied")
    while True:
        pass
