"""A workbench for tests: a scripted engine, inference threads stepped by hand, and the records that were sent."""

import zlib
from collections.abc import Generator

import msgspec
import numpy as np

from shm.audio import SAMPLE_BYTES, Pcm
from shm.memory import reserve
from shm.messages import Began, Commit, CommitMessage, SegmentOrder
from shm.ring import Arena, RingReader
from tests.engine_infos import kokoro
from worker.engine import Block, Cancelled, EngineError, ProviderUnavailable, Utterance
from worker.loop.segments import SegmentWork
from worker.loop.workbench import Workbench

RING = 1000
"""Samples."""


class ScriptedEngine:
    """Speaks "3x100" as three blocks of 100 samples; "boom" raises, "bug" breaks, "skip" leaves a gap."""

    info = kokoro()
    concurrency = 2

    def __init__(self) -> None:
        self.made: list[str] = []
        self.closed: list[str] = []

    def warm_up(self) -> None: ...

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        try:
            if utterance.script == "boom":
                raise EngineError("can't say boom")
            if utterance.script == "driver":
                raise ProviderUnavailable("CUDAExecutionProvider", "out of memory")
            if utterance.script == "bug":
                raise RuntimeError("broken")
            if utterance.script == "gives up":
                raise Cancelled
            if utterance.script == "skip":
                yield Block(7, samples_of(utterance.script, 5))
            count, size = (int(part) for part in utterance.script.split("-")[0].split("x"))
            whole = samples_of(utterance.script, count * size)
            for offset in range(utterance.from_sample, count * size, size):
                self.made.append(utterance.script)
                marks = tuple((place, offset + place % size) for place in range(offset, offset + size))
                last = offset + size == count * size
                yield Block(offset, whole[offset : offset + size], last, marks, prosody_seconds=offset / 100)
        finally:
            self.closed.append(utterance.script)


def samples_of(script: str, count: int) -> Pcm:
    return (np.arange(count) + zlib.crc32(script.encode()) % 1000).astype(np.int16)


def an_order(
    stream: int, segment: int, script: str, deadline: float = 0.0, from_sample: int = 0, marks: bool = False
) -> SegmentOrder:
    """An order of generation 1, into the ring of the stream's own number."""
    return SegmentOrder(
        generation=1,
        stream=stream,
        segment=segment,
        ring=stream,
        script=script,
        language="en-us",
        voice=(("v", 1.0),),
        speed=1.0,
        seed=0,
        from_sample=from_sample,
        first_deadline=deadline,
        marks=marks,
    )


class Desk:
    """A bench whose one inference thread takes a step when it is told to, and what the front received."""

    def __init__(self, rings: int = 3, first_block: float = 0.0) -> None:
        """`first_block`: of an engine that vocodes in windows."""
        self.engine = ScriptedEngine()
        self.engine.info = msgspec.structs.replace(self.engine.info, first_block=first_block)
        self.sent: list[CommitMessage] = []
        self.arena = Arena(reserve(rings * RING * SAMPLE_BYTES), rings, RING)
        self.begun: list[tuple[int, int]] = []
        self.broken: list[ProviderUnavailable] = []
        self.bench = Workbench(self.engine, 1, self.arena, lambda message: self.receive(message), self.broken.append)

    def receive(self, message: CommitMessage) -> None:
        if isinstance(message, Began):
            self.begun.append((message.stream, message.segment))
        else:
            self.sent.append(message)

    def order(
        self, stream: int, segment: int, script: str, deadline: float = 0.0, from_sample: int = 0, marks: bool = False
    ) -> None:
        self.bench.handle(an_order(stream, segment, script, deadline, from_sample, marks))

    def step(self) -> None:
        """One inference thread's one block; there must be one to make."""
        self.finish(self.take_up())

    def take_up(self) -> SegmentWork:
        """One inference thread begins a block; there must be one to make."""
        segment = self.bench._next()
        assert segment is not None
        return segment

    def finish(self, segment: SegmentWork) -> None:
        """The inference thread that took it up has made the block."""
        block, failure = self.bench._advance(segment)
        with self.bench._changed:
            self.bench._take_in(segment, block, failure)
            self.bench._changed.notify_all()

    def steps(self) -> None:
        """Until nothing can be made."""
        while any(True for _ in self.bench._workable()):
            self.step()

    def heard(self, stream: int, segment: int) -> Pcm:
        """The samples that the front would have, read through the commits as they came."""
        pieces = [
            piece
            for m in self.sent
            if isinstance(m, Commit) and (m.stream, m.segment) == (stream, segment)
            for piece in RingReader(self.arena.ring(stream)).sealed(m.position, m.samples, m.crc32)
        ]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int16)

    def commits(self) -> list[tuple[int, int, int, int]]:
        return [(m.stream, m.segment, m.offset, m.samples) for m in self.sent if isinstance(m, Commit)]
