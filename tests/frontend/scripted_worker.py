"""The worker's end of a real channel, played by the test: it reads orders, and seals what it is told to."""

import asyncio
import os
import zlib
from collections.abc import Callable, Iterator

import numpy as np

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from frontend.streams.joins import Joiner
from shm.audio import SAMPLE_BYTES, Pcm
from shm.engine_info import EngineInfo
from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.memory import reserve
from shm.messages import (
    Began,
    Commit,
    CommitMessage,
    Connect,
    Done,
    Failed,
    Forget,
    Release,
    SegmentOrder,
    decode_order,
    encode,
)
from shm.ring import Arena, RingWriter
from tests.engine_infos import kokoro
from text.words.segment import Cut, Segment

DEADLINE = 60.0
"""Seconds after which a test that waits for an event gives up."""

RING = 24_000
PER_TOKEN = 1680
"""Samples for each character of a script: what the front expects before it has seen any."""

ENGINE = kokoro(model="m.onnx", model_sha256="0", speaks="text")


def samples_of(script: str) -> Pcm:
    """The samples of a script: different for each."""
    return (np.arange(len(script) * PER_TOKEN) + zlib.crc32(script.encode()) % 10_000).astype(np.int16)


class ScriptedReader:
    """A pipeline in place of the real one: segments are separated by `|`, and cut as inside a word."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        for part in filter(None, request.text.split("|")):
            yield Segment(part, part, len(part), Cut.INSIDE)


def joined(*segments: Pcm) -> Pcm:
    """The samples that a listener hears of whole segments."""
    joiner = Joiner()
    pieces: list[Pcm] = []
    for samples in segments:
        pieces += joiner.push(samples)
        joiner.end(Cut.INSIDE, 1.0)
    return np.concatenate([*pieces, *joiner.finish()])


class ScriptedWorker:
    def __init__(
        self, generation: int, engine: EngineInfo = ENGINE, rings: int = 4, ring: int = RING, slot: int = 0
    ) -> None:
        memory = reserve(rings * ring * SAMPLE_BYTES)
        orders_read, orders_write = os.pipe()
        commits_read, commits_write = os.pipe()
        os.set_blocking(orders_read, False)
        self.generation = generation
        self.connect = Connect(generation, rings, ring, engine, slot)
        self.fds = [orders_write, commits_read, os.dup(memory)]
        self.orders: list[SegmentOrder] = []
        self.forgotten: list[int] = []
        self._arena = Arena(memory, rings, ring)
        os.close(memory)
        self._reader = FrameReader(orders_read)
        self._commits = FrameWriter(commits_write)
        self._rings: dict[int, RingWriter] = {}
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(orders_read, self._read)

    def _read(self) -> None:
        try:
            payloads = list(self._reader.receive())
        except BrokenChannel:  # the front has let it go
            asyncio.get_running_loop().remove_reader(self._reader.fd)
            return
        for payload in payloads:
            match decode_order(payload):
                case SegmentOrder() as order:
                    self.orders.append(order)
                    self._rings.setdefault(order.stream, RingWriter(self._arena.ring(order.ring)))
                case Release(stream, position):
                    if stream in self._rings:
                        self._rings[stream].release(position)
                case Forget(stream):
                    self.forgotten.append(stream)
                    self._rings.pop(stream, None)
        self._news.set()

    async def has(self, count: int) -> SegmentOrder:
        """Wait until `count` orders have come; the last of them."""
        async with asyncio.timeout(DEADLINE):
            await self.news(lambda: len(self.orders) >= count)
        return self.orders[count - 1]

    async def hears_of_forgotten(self, count: int) -> None:
        async with asyncio.timeout(DEADLINE):
            await self.news(lambda: len(self.forgotten) >= count)

    async def news(self, arrived: Callable[[], bool]) -> None:
        """Wait until that holds; looked at after each message of the front."""
        while not arrived():
            self._news.clear()
            await self._news.wait()

    def forgot(self, order: SegmentOrder) -> bool:
        """True if the front has let the order's stream go."""
        return order.stream not in self._rings

    def has_room(self, order: SegmentOrder) -> bool:
        """True if the whole order can be sealed now."""
        return self._rings[order.stream].room >= len(samples_of(order.script)) - order.from_sample

    def begin(self, order: SegmentOrder) -> None:
        """Say that an inference thread takes it up."""
        self.send(Began(self.generation, order.stream, order.segment))

    def seal(self, order: SegmentOrder, start: int, end: int) -> None:
        """Commit samples `start` to `end` of the order's segment."""
        self.send(self.commit(order, start, end))

    def commit(self, order: SegmentOrder, start: int, end: int) -> Commit:
        """Write samples into the ring; the commit for them."""
        part = samples_of(order.script)[start:end]
        position, crc32 = self._rings[order.stream].write(part)
        return Commit(self.generation, order.stream, order.segment, start, position, len(part), crc32)

    def speak(self, order: SegmentOrder) -> None:
        """Make the whole order, from where it is wanted."""
        whole = len(samples_of(order.script))
        if order.from_sample < whole:
            self.seal(order, order.from_sample, whole)
        self.end(order)

    def give(self, order: SegmentOrder, samples: Pcm) -> None:
        """Make the whole order of these samples."""
        position, crc32 = self._rings[order.stream].write(samples)
        where = self.generation, order.stream, order.segment
        self.send(Commit(*where, 0, position, len(samples), crc32))
        self.send(Done(*where, len(samples), 0.01))

    async def speaks(self, *numbers: int) -> None:
        """Make the orders of those numbers, each once it has come."""
        for number in numbers:
            self.speak(await self.has(number))

    def end(self, order: SegmentOrder) -> None:
        self.send(Done(self.generation, order.stream, order.segment, len(samples_of(order.script)), 0.01))

    def fail(self, order: SegmentOrder, reason: str) -> None:
        self.send(Failed(self.generation, order.stream, order.segment, reason))

    def send(self, message: CommitMessage) -> None:
        self._commits.write_frame(encode(message))

    def die(self) -> None:
        """End as a killed process does: its descriptors close."""
        asyncio.get_running_loop().remove_reader(self._reader.fd)
        self._reader.close()
        self._commits.close()
