"""What a killed writer leaves behind: `multiprocess.Queue`, `SimpleQueue`, and a pipe of frames for each writer.

    python -m benchmarks.queues [--kills 300] [--round-trips 3000] [--bytes 300,60000] [--seed 1]

Kills: two writers send to one reader; one of them is killed (SIGKILL) at a random moment while it sends all the time,
then the other sends one message. *Heard* counts the kills after which it reaches the reader within `PATIENCE`. Where it
doesn't, the lock of the writers tells who waits: the other writer for the dead one's lock, or the reader for the rest
of the dead one's message. Cost: round trips between two processes, one message at a time. Exits 1 if a message was lost
by the pipes.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import select
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import multiprocess
import psutil

from shm.frames import BrokenChannel, FrameReader, FrameWriter

PATIENCE = 1.0
"""Seconds in which a message must arrive; the slowest of those that do takes milliseconds."""

_FORK = multiprocess.get_context("fork")


class Line(Protocol):
    """A way from two writers to one reader."""

    title: str

    def leave(self, *writers: int) -> None:
        """Close this process's copies of the writers' ends, so that the reader hears their deaths."""

    def close(self) -> None:
        """Close what this process has of it."""

    def send(self, writer: int, message: bytes) -> None: ...

    def receive(self) -> list[bytes]:
        """The next messages, at least one, from any writer."""
        ...

    def waits(self) -> str:
        """Who waits after a message wasn't heard."""
        ...


class Queue:
    """`multiprocess.Queue`: a thread in each writer takes the writers' lock and writes to the one pipe."""

    title = "Queue"

    def __init__(self) -> None:
        self._queue = self._made()

    def _made(self) -> Any:
        return _FORK.Queue()

    def leave(self, *writers: int) -> None:
        pass  # all writers share one end

    def close(self) -> None:
        self._queue._reader.close()
        self._queue._writer.close()

    def send(self, writer: int, message: bytes) -> None:
        queue = self._queue
        while len(getattr(queue, "_buffer", ())) > 20:
            time.sleep(0.0001)  # the writer's memory is no limit
        queue.put(message)

    def receive(self) -> list[bytes]:
        return [self._queue.get()]

    def waits(self) -> str:
        held = not self._queue._wlock.acquire(timeout=PATIENCE / 10)
        return "the next writer waits for the dead one's lock" if held else "the reader waits in a half message"


class SimpleQueue(Queue):
    """`multiprocess.SimpleQueue`: the caller of `put` takes the lock itself."""

    title = "SimpleQueue"

    def _made(self) -> Any:
        return _FORK.SimpleQueue()


class Pipes:
    """What the front and its workers have: a pipe for each writer, in frames."""

    title = "a pipe each"

    def __init__(self) -> None:
        ends = [os.pipe(), os.pipe()]
        self._writers = {writer: FrameWriter(writing) for writer, (_, writing) in enumerate(ends)}
        self._readers = {reading: FrameReader(reading) for reading, _ in ends}

    def leave(self, *writers: int) -> None:
        for writer in writers:
            self._writers.pop(writer).close()

    def close(self) -> None:
        self.leave(*self._writers)
        while self._readers:
            self._readers.popitem()[1].close()

    def send(self, writer: int, message: bytes) -> None:
        self._writers[writer].write_frame(message)

    def receive(self) -> list[bytes]:
        while True:
            for reading in select.select([*self._readers], [], [])[0]:
                try:
                    if found := self._readers[reading].receive():
                        return found
                except BrokenChannel:
                    self._readers.pop(reading).close()

    def waits(self) -> str:
        return "lost"


KINDS: tuple[type[Line], ...] = (Queue, SimpleQueue, Pipes)


def forked(work: Callable[[], object]) -> int:
    """Process id of a child that does the work."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    finally:
        os._exit(0)


def one_kill(kind: type[Line], size: int, draw: random.Random) -> str:
    """What became of the other writer's message; empty if it was heard."""
    line = kind()
    begun, heard, go = os.pipe(), os.pipe(), os.pipe()

    def write_until_killed() -> NoReturn:
        line.leave(1)
        line.send(0, b"A" * size)
        os.write(begun[1], b"!")
        while True:
            line.send(0, b"A" * size)

    def write_one() -> None:
        line.leave(0)
        os.read(go[0], 1)
        line.send(1, b"B" * size)
        time.sleep(10 * PATIENCE)  # a queue's thread may still have to write

    def read() -> None:
        line.leave(0, 1)
        while True:
            if any(message[:1] == b"B" for message in line.receive()):
                os.write(heard[1], b"!")

    children = [forked(read), forked(write_until_killed), forked(write_one)]
    line.leave(0, 1)
    try:
        os.read(begun[0], 1)
        time.sleep(draw.random() * 0.005)
        os.kill(children[1], signal.SIGKILL)
        os.waitpid(children.pop(1), 0)
        os.write(go[1], b"!")
        return "" if select.select([heard[0]], [], [], PATIENCE)[0] else line.waits()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        line.close()
        for ends in (begun, heard, go):
            for end in ends:
                os.close(end)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one round trip: two messages."""

    median: float
    worst_hundredth: float
    processor: float
    """Seconds of both processes."""


def cost(kind: type[Line], size: int, trips: int) -> Cost:
    there, back = kind(), kind()
    message = b"x" * size

    def answer() -> None:
        while True:
            for got in there.receive():
                back.send(0, got)

    def ask() -> float:
        started = time.perf_counter()
        there.send(0, message)
        back.receive()
        return time.perf_counter() - started

    child = forked(answer)
    try:
        for _ in range(100):
            ask()
        began = used(child)
        times = sorted(ask() for _ in range(trips))
        spent = used(child) - began
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        there.close()
        back.close()
    return Cost(statistics.median(times), times[int(len(times) * 0.99)], spent / trips)


def used(other: int) -> float:
    """Processor seconds of this process and another one so far."""
    own, its = resource.getrusage(resource.RUSAGE_SELF), psutil.Process(other).cpu_times()
    return float(own.ru_utime + own.ru_stime + its.user + its.system)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=300, help="by kind and size")
    parser.add_argument("--round-trips", type=int, default=3000)
    parser.add_argument("--bytes", default="300,60000", help="sizes of a message")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lost = 0
    for kind in KINDS:
        for size in map(int, options.bytes.split(",")):
            draw = random.Random(options.seed)
            ends = Counter(one_kill(kind, size, draw) for _ in range(options.kills))
            heard = ends.pop("", 0)
            lost += options.kills - heard if kind is Pipes else 0
            told = "".join(f"; {count} {end}" for end, count in ends.most_common())
            print(f"{kind.title:12}{size:7,} bytes: heard {heard} of {options.kills}{told}", flush=True)
            if options.round_trips:
                found = cost(kind, size, options.round_trips)
                each = [1e6 * seconds for seconds in (found.median, found.worst_hundredth, found.processor)]
                told = "round trip {:.0f} us, worst hundredth {:.0f} us, processor {:.0f} us".format(*each)
                print(f"{'':21}{told}", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
