"""A scheduler with workers that do what a test says, and listeners to its streams."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import SpeechStream
from frontend.monitoring.metrics import Metrics
from frontend.planning.reader import Reader
from frontend.scheduling.scheduler import Scheduler
from frontend.settings.front import FrontSettings
from frontend.streams.cache import SegmentCache
from frontend.streams.stream import Stream
from shm.audio import Pcm
from shm.messages import ControlMessage
from shm.situation import Situation
from tests.frontend.scripted_worker import DEADLINE, ScriptedReader, ScriptedWorker, joined, samples_of


class Desk:
    """A scheduler, what it told the supervisor, and the workers that were connected to it."""

    def __init__(
        self,
        patience: float = 60.0,
        cache_bytes: int = 0,
        reader: Reader | None = None,
        idle_unload: float = 0.0,
        quarantine: float = 600.0,
    ) -> None:
        self.told: list[ControlMessage] = []
        settings = FrontSettings(
            max_streams=8, hang_patience=patience, idle_unload=idle_unload, quarantine_seconds=quarantine
        )
        self.metrics = Metrics()
        self.scheduler = Scheduler(
            reader or ScriptedReader(), self.metrics, self.told.append, settings, SegmentCache(cache_bytes)
        )
        self.scheduler.situation(Situation("running", "", {}))
        self.workers: list[ScriptedWorker] = []

    def worker(self, generation: int, **options: object) -> ScriptedWorker:
        worker = ScriptedWorker(generation, **options)  # type: ignore[arg-type]
        self.scheduler.connect(worker.connect, worker.fds)
        self.workers.append(worker)
        return worker

    def open(self, text: str, **fields: object) -> Stream:
        request = SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", 1.0, **fields)  # type: ignore[arg-type]
        return self.scheduler.open(request)

    def kill(self, worker: ScriptedWorker) -> None:
        worker.die()
        self.workers.remove(worker)

    def close(self) -> None:
        self.scheduler.shut_down()
        for worker in self.workers:
            worker.die()

    def counted(self, name: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"kokoro_live_{name}")

    def told_of(self, kind: type) -> list[ControlMessage]:
        return [message for message in self.told if isinstance(message, kind)]


def desk_with(reader: Callable[[], Reader] = ScriptedReader, **options: Any) -> Callable[[], AsyncIterator[Desk]]:
    """A fixture of a desk that is closed after the test."""

    @pytest.fixture
    async def desk() -> AsyncIterator[Desk]:
        made = Desk(reader=reader(), **options)
        yield made
        made.close()

    return desk


def listen(stream: SpeechStream) -> asyncio.Task[Pcm]:
    async def collect() -> Pcm:
        try:
            pieces = [piece.copy() async for piece in stream]
        finally:
            stream.close()
        return np.concatenate(pieces)

    return asyncio.create_task(collect())


async def planned(stream: Stream) -> Stream:
    """Wait until its text was read to the end, or it was refused."""
    async with asyncio.timeout(DEADLINE):
        await stream._planning
    return stream


async def heard(task: asyncio.Task[Pcm]) -> Pcm:
    async with asyncio.timeout(DEADLINE):
        return await task


def spoken(text: str) -> Pcm:
    return joined(*(samples_of(part) for part in text.split("|")))
