"""Contexts over a real scheduler, with the real reader and a worker that speaks whatever it is told to."""

import asyncio
import itertools
from collections.abc import Sequence

import msgspec
import numpy as np

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed, Spoken
from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits
from frontend.planning.reader import Reader
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from shm.audio import Pcm
from tests.frontend.desk import Desk
from tests.frontend.scripted_worker import DEADLINE, ENGINE, ScriptedWorker
from text.pipeline import TextPipeline
from text.words.segment import Word

ASKED = SpeechRequest("request", "", (("af_heart", 1.0),), "en-us", 1.0, client="client")


PARTS = msgspec.structs.replace(ENGINE, parts=True)
"""An engine that speaks a part of a script."""

ANSWER = "I can help you with that, but first I need to know which account you mean. Then we begin at once."


class NoG2P:
    """Never asked: the scripted engine takes text."""

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        raise AssertionError(sentence)

    def depends_on_sentence(self, word: str, language: str) -> bool:
        return word == "read"


class ContextDesk(Desk):
    def __init__(self, settings: FrontSettings | None = None, cache_bytes: int = 0) -> None:
        super().__init__(cache_bytes=cache_bytes, reader=Reader(TextPipeline(NoG2P()), Limits()))
        if settings:
            self.scheduler._shared.settings = settings
        self.services = Services(self.scheduler, settings or FrontSettings(), self.metrics)
        self._speaking: list[asyncio.Task[None]] = []

    def worker(self, generation: int, **options: object) -> ScriptedWorker:
        """A worker whose rings hold any test's segment."""
        return super().worker(generation, **({"ring": 400_000} | options))

    def speaker(self, generation: int = 1, **options: object) -> ScriptedWorker:
        """A worker that speaks whatever it is told to, until `hush`."""
        worker = self.worker(generation, **options)
        self._speaking.append(asyncio.create_task(speak_all(worker)))
        return worker

    def hush(self) -> None:
        while self._speaking:
            self._speaking.pop().cancel()

    def context(self, output: OutputFormat | None = None, patience: float | None = None) -> Context:
        return Context(self.services, ASKED, output or OutputFormat(), patience=patience)

    async def nothing_is_left(self) -> None:
        """Wait until no stream, ring, context or socket is open."""
        async with asyncio.timeout(DEADLINE):
            while self._something_is_open():  # noqa: ASYNC110 - nobody tells of an end
                await asyncio.sleep(0.005)

    def _something_is_open(self) -> bool:
        shared, opened = self.scheduler._shared, self.services.open
        leased = any(link.rings.leases for link in shared.links.all)
        return bool(shared.streams or opened.contexts or any(opened.sockets.values()) or leased)

    def close(self) -> None:
        self.hush()
        super().close()
        self.services.encoders.stop_threads()


class Heard:
    """Collects a context's events in a task of its own."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.events: list[Event] = []
        self._news = asyncio.Event()
        self.task = asyncio.create_task(self._collect())

    async def _collect(self) -> None:
        try:
            async for event in self.context:
                self.events.append(event)
                self._news.set()
        finally:
            self.context.drop()
            self._news.set()

    async def whole(self) -> Pcm:
        """Wait for the context's end; its samples."""
        async with asyncio.timeout(DEADLINE):
            await self.task
        return self.samples

    @property
    def samples(self) -> Pcm:
        audio = b"".join(event.audio for event in self.events if isinstance(event, Spoken))
        return np.frombuffer(audio, np.int16)

    @property
    def flushes(self) -> int:
        return sum(isinstance(event, Flushed) for event in self.events)

    async def flushed(self, count: int) -> None:
        """Wait until that many flushes were reported."""
        async with asyncio.timeout(DEADLINE):
            while self.flushes < count:
                self._news.clear()
                await self._news.wait()


def said(worker: ScriptedWorker) -> list[str]:
    return [order.script[slice(*(order.part or (0, None)))].strip() for order in worker.orders]


async def scripts(worker: ScriptedWorker, count: int) -> Sequence[str]:
    await worker.has(count)
    return [order.script for order in worker.orders]


async def speak_all(worker: ScriptedWorker) -> None:
    """Speak each order as it comes, but for those of a stream that was forgotten before its turn came."""
    for place in itertools.count():
        await worker.news(lambda place=place: len(worker.orders) > place)
        order = worker.orders[place]
        await worker.news(lambda order=order: worker.forgot(order) or worker.has_room(order))
        if not worker.forgot(order):
            worker.speak(order)
