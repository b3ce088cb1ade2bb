"""Texts that are written as plans: `6a 24b` is a segment of six words of five a's, and one of 24 words of five b's."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import msgspec

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.messages import Done, SegmentOrder
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedReader, ScriptedWorker, samples_of
from text.words.segment import Cut, Segment, Unit

KOKORO = msgspec.structs.replace(ENGINE, speaks="phonemes", vocabulary="abcdefghij ")


def script_of(plan: str) -> str:
    return " ".join(words(spec).script for spec in plan.split())


def words(spec: str) -> Segment:
    """A segment that may be cut after each word."""
    count, word = int(spec[:-1]), spec[-1] * 5
    units = tuple(Unit(word, word, " ", Cut.WORD if n < count - 1 else Cut.SENTENCE) for n in range(count))
    script = " ".join([word] * count)
    return Segment(script, script, len(script), Cut.SENTENCE, units=units)


class WordsReader(ScriptedReader):
    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        return map(words, request.text.split())


def worker_of(desk: Desk, generation: int = 1) -> ScriptedWorker:
    """A worker that reads such texts, with room for half a minute of each."""
    return desk.worker(generation, engine=KOKORO, ring=30 * SAMPLE_RATE)


def speak(worker: ScriptedWorker, order: SegmentOrder, real_time_factor: float) -> None:
    """Make an order, and say how long it took."""
    samples = len(samples_of(order.script))
    worker.seal(order, order.from_sample, samples)
    worker.send(Done(worker.generation, order.stream, order.segment, samples, real_time_factor * samples / SAMPLE_RATE))


async def spoken_before(desk: Desk, worker: ScriptedWorker, spec: str, real_time_factor: float) -> None:
    """Have a worker's first order be for somebody else: how fast it is is known, and the segment is in the cache."""
    listener = listen(desk.open(spec, client="before"))
    speak(worker, await worker.has(1), real_time_factor)
    await heard(listener)


@asynccontextmanager
async def at_work(worker: ScriptedWorker, since: int, real_time_factor: float) -> AsyncIterator[None]:
    """Meanwhile every order from the `since`th on is made."""

    async def work() -> None:
        count = since
        while True:
            speak(worker, await worker.has(count), real_time_factor)
            count += 1

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
