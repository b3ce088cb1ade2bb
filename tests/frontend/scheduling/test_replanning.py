"""A stream whose listener is about to run dry has its rest cut anew; nobody else's plan is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import msgspec
import pytest

from frontend.planning.profile import Profile
from frontend.speaker import SpeechRequest
from frontend.text.segment import Cut, Segment, Unit
from shm.audio import SAMPLE_RATE
from shm.messages import Done, EngineInfo, Job
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedReader, ScriptedWorker, samples_of

WORD = "abcde"


def segment(words: int, cut: Cut) -> Segment:
    """So many words of five letters in one segment."""
    units = tuple(Unit(WORD, WORD, " ", Cut.WORD if n < words - 1 else cut) for n in range(words))
    script = " ".join([WORD] * words)
    return Segment(script, script, len(script), cut, units=units)


class WordsReader(ScriptedReader):
    """Reads numbers: each is a segment of as many words."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: Profile) -> Iterator[Segment]:
        for count in request.text.split():
            yield segment(int(count), Cut.SENTENCE)


KOKORO = msgspec.structs.replace(ENGINE, speaks="phonemes", vocabulary=WORD + " ")


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(reader=WordsReader())
    yield made
    made.close()


def worker_of(desk: Desk) -> ScriptedWorker:
    return desk.worker(1, engine=KOKORO, ring=30 * SAMPLE_RATE)


def speak(worker: ScriptedWorker, job: Job, real_time_factor: float) -> None:
    """Make a job, and say how long it took."""
    samples = len(samples_of(job.script))
    worker.seal(job, job.from_sample, samples)
    worker.send(Done(worker.generation, job.job, job.segment, samples, real_time_factor * samples / SAMPLE_RATE))


async def slow(desk: Desk, worker: ScriptedWorker, factor: float) -> None:
    listener = listen(desk.open("6", client="before"))
    speak(worker, await worker.has(1), factor)
    await heard(listener)


def replans(desk: Desk) -> float | None:
    return desk.metrics.registry.get_sample_value("kokoro_live_replans_total")


async def test_a_rest_that_would_come_too_late_is_cut_smaller_and_still_said_once(desk: Desk) -> None:
    """Two seconds in hand, and a next segment that takes nine: a gap that a shorter one avoids."""
    worker = worker_of(desk)
    await slow(desk, worker, 0.8)
    listener = listen(desk.open("6 24 6"))
    speak(worker, await worker.has(2), 0.8)
    said = worker.jobs[1].script
    count = 3
    while len(said.replace(" ", "")) < 36 * len(WORD):
        job = await worker.has(count)
        said += " " + job.script
        speak(worker, job, 0.8)
        count += 1
    await heard(listener)
    assert said == " ".join([WORD] * 36)
    assert len(worker.jobs[2].script) < 24 * (len(WORD) + 1) - 1
    assert replans(desk) == 1


async def test_whoever_has_time_keeps_the_plan(desk: Desk) -> None:
    worker = worker_of(desk)
    await slow(desk, worker, 0.1)
    listener = listen(desk.open("6 24 6"))
    for count in (2, 3, 4):
        speak(worker, await worker.has(count), 0.1)
    await heard(listener)
    assert [len(job.script.split()) for job in worker.jobs[1:]] == [6, 24, 6]
    assert replans(desk) == 0


@pytest.mark.parametrize("fields", [{"whole": True}, {"idle": True}])
async def test_what_nobody_listens_to_keeps_the_plan(desk: Desk, fields: dict[str, bool]) -> None:
    worker = worker_of(desk)
    await slow(desk, worker, 3.0)
    listener = listen(desk.open("6 24", **fields))
    for count in (2, 3):
        speak(worker, await worker.has(count), 3.0)
    await heard(listener)
    assert [len(job.script.split()) for job in worker.jobs[1:]] == [6, 24]


async def test_nothing_is_planned_again_by_a_guess(desk: Desk) -> None:
    worker = worker_of(desk)
    stream = desk.open("6 24")
    listener = listen(stream)
    job = await worker.has(1)
    worker.seal(job, 0, len(samples_of(job.script)))
    await worker.has(2)
    assert len(worker.jobs[1].script.split()) == 24
    listener.cancel()
