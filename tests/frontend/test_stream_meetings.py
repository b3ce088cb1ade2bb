"""Streams where several things meet: plans made anew, cached parts, pauses of listeners, deaths of workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import msgspec
import numpy as np
import pytest

from frontend.planning.profile import Profile
from frontend.speaker import Overloaded, SpeechError, SpeechRequest
from frontend.text.segment import Cut, Segment, Unit
from shm.audio import SAMPLE_RATE
from shm.messages import Done, EngineInfo, Job
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedReader, ScriptedWorker, samples_of


def segment(spec: str) -> Segment:
    """`6a`: six words of five letters a."""
    count, word = int(spec[:-1]), spec[-1] * 5
    units = tuple(Unit(word, word, " ", Cut.WORD if n < count - 1 else Cut.SENTENCE) for n in range(count))
    script = " ".join([word] * count)
    return Segment(script, script, len(script), Cut.SENTENCE, units=units)


class SpecReader(ScriptedReader):
    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: Profile) -> Iterator[Segment]:
        for spec in request.text.split():
            yield segment(spec)


KOKORO = msgspec.structs.replace(ENGINE, speaks="phonemes", vocabulary="abcdefghij ")


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(reader=SpecReader(), cache_bytes=1 << 24)
    yield made
    made.close()


def worker_of(desk: Desk) -> ScriptedWorker:
    return desk.worker(1, engine=KOKORO, ring=30 * SAMPLE_RATE)


def speak(worker: ScriptedWorker, job: Job, rtf: float) -> None:
    samples = len(samples_of(job.script))
    if samples > job.from_sample:
        worker.seal(job, job.from_sample, samples)
    worker.send(Done(worker.generation, job.job, job.segment, samples, rtf * samples / SAMPLE_RATE))


async def made(desk: Desk, worker: ScriptedWorker, spec: str, rtf: float) -> None:
    """Say a segment to somebody, so that it is in the cache and the engine's pace is known."""
    listener = listen(desk.open(spec, client="before"))
    speak(worker, await worker.has(len(worker.jobs) + 1), rtf)
    await heard(listener)


async def test_a_replan_keeps_the_order_around_a_cached_segment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from frontend.stream import Stream

    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.8)
    order: list[str] = []
    tell = Stream._tell_words

    def note(self, head, ended=False):  # type: ignore[no-untyped-def]
        if ended:
            order.append(head.segment.script[0])
        tell(self, head, ended)

    monkeypatch.setattr(Stream, "_tell_words", note)
    stream = desk.open("6a 24c 6b 6d", client="x")
    async with asyncio.timeout(5):
        while not any(s.cached for s in stream.planned):
            await asyncio.sleep(0)
    listener = listen(stream)
    count = 2
    while not listener.done() and count < 8:
        try:
            async with asyncio.timeout(1):
                job = await worker.has(count)
        except TimeoutError:
            break
        await asyncio.sleep(0.05)  # an engine takes a while
        speak(worker, job, 0.8)
        count += 1
        await asyncio.sleep(0.05)
    async with asyncio.timeout(3):
        await listener  # it ends cleanly
    assert list(dict.fromkeys(order)) == ["a", "c", "b", "d"], order


async def test_a_stream_with_a_cached_segment_in_between_ends(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.8)
    stream = desk.open("6a 24c 6b 6d", client="x")
    async with asyncio.timeout(5):
        while not any(s.cached for s in stream.planned):
            await asyncio.sleep(0)
    listener = listen(stream)

    async def work() -> None:
        count = 2
        while True:
            speak(worker, await worker.has(count), 0.8)
            count += 1

    working = asyncio.create_task(work())
    try:
        async with asyncio.timeout(3):
            await listener
    except TimeoutError:
        pytest.fail("hangs: " + repr([j.script[:5] + "#" + str(j.segment) for j in worker.jobs]))
    finally:
        working.cancel()


async def test_what_is_cached_further_on_does_not_sound_yet(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.8)
    stream = desk.open("6a 6b", client="x")
    async with asyncio.timeout(5):
        await stream._planning
    sounds = stream.sounds
    stream.close()
    assert not sounds, "its first segment isn't made"


async def test_indexes_stay_unique_when_a_replan_falls_into_a_lookup_on_the_disk(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.8)
    gate = asyncio.Event()
    recall = desk.dispatcher.recall
    asked = 0

    async def slow(stream, key):  # type: ignore[no-untyped-def]
        nonlocal asked
        asked += 1
        if asked == 4:
            await gate.wait()
        return await recall(stream, key)

    desk.dispatcher.recall = slow  # type: ignore[method-assign]
    stream = desk.open("6a 24c 6e 6d")
    listener = listen(stream)
    job = await worker.has(2)
    while asked < 4:
        await asyncio.sleep(0)
    speak(worker, job, 0.8)
    await worker.has(3)
    gate.set()
    await asyncio.sleep(0.1)
    indexes = [s.index for s in stream.planned]
    listener.cancel()
    assert len(set(indexes)) == len(indexes), indexes


async def paused(desk: Desk, worker: ScriptedWorker, text: str, jobs: int, rtf: float):  # type: ignore[no-untyped-def]
    """A stream whose listener took one piece and reads no more."""
    stream = desk.open(text, client="paused")
    pieces = aiter(stream)
    first = asyncio.ensure_future(anext(pieces))
    speak(worker, await worker.has(jobs), rtf)
    async with asyncio.timeout(5):
        await first
    return stream, pieces


async def test_a_paused_listener_refuses_nobody(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.3)
    stream, _pieces = await paused(desk, worker, "6a 24c 6e 6d 24f 24g", 2, 0.3)
    await worker.has(4)
    for job in worker.jobs[2:4]:
        speak(worker, job, 0.3)
    await asyncio.sleep(0.05)
    stream._playing_since -= 60  # it has been reading nothing for a minute
    other = desk.open("6h", client="other")
    try:
        async with asyncio.timeout(5):
            await other._planning
        assert other._failure is None, (other._failure, getattr(other._failure, "retry_after", None))
    finally:
        stream.close(), other.close()


async def test_a_paused_listener_is_not_planned_again_and_heard_no_gap(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.3)
    stream, pieces = await paused(desk, worker, "6a 24c 24e 24d 24f 24g", 2, 0.3)
    value = desk.metrics.registry.get_sample_value
    await asyncio.sleep(0.05)
    before = value("kokoro_live_replans_total")
    for n in range(2, 4):
        speak(worker, await worker.has(n + 1), 0.3)
    await asyncio.sleep(0.05)
    stream._playing_since -= 60
    desk.dispatcher.wake()
    assert value("kokoro_live_replans_total") == before
    # It reads on: everything is there but the next block, which comes at once.
    nxt = asyncio.ensure_future(anext(pieces))
    await asyncio.sleep(0.05)
    for job in worker.jobs[4:]:
        speak(worker, job, 0.3)
    await asyncio.sleep(0.05)
    nxt.cancel()
    stream.close()
    assert value("kokoro_live_stream_underruns_total") == 0


async def test_a_stream_that_came_back_from_a_pause_does_not_go_before_one_that_runs_dry(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.3)
    stream, _pieces = await paused(desk, worker, "6a 24c 24e 24d", 2, 0.3)
    stream._playing_since -= 60
    nxt = stream.next_segment() or stream.planned[-1]
    assert stream.deadline(nxt) > time.monotonic(), "its listener has all of this buffered"
    stream.close()


async def test_a_text_whose_beginning_is_cached_is_tested_by_when_that_will_have_been_heard(desk: Desk) -> None:
    """12 s cached, then 2 s to be made; the machine is busy for three seconds."""
    worker = worker_of(desk)
    await made(desk, worker, "30b", 0.8)
    busy = desk.open("8a", client="busy")
    await worker.has(2)
    stream = desk.open("30b 6d", client="other")
    listener = listen(stream)
    async with asyncio.timeout(5):
        await stream._planning
    failure = stream._failure
    listener.cancel()
    busy.close()
    assert failure is None, failure


async def test_a_clip_that_nobody_listens_to_yet_leaves_room_for_a_listener(desk: Desk) -> None:
    worker = worker_of(desk)
    await made(desk, worker, "6b", 0.6)
    clip = desk.open("6a " + "24c 24d 24e 24f " * 10, client="clip", whole=True)
    task = listen(clip)
    speak(worker, await worker.has(2), 0.6)
    await worker.has(3)
    await asyncio.sleep(0.05)
    other = desk.open("6h", client="other")
    async with asyncio.timeout(5):
        await other._planning
    failure = other._failure
    task.cancel()
    other.close()
    assert failure is None, failure


async def test_refused_in_the_middle(desk: Desk) -> None:
    from frontend.errors import late_error_body

    assert late_error_body(Overloaded("full", 3.0))["code"] != "internal"


def test_a_pause_that_markup_asks_for_at_the_end() -> None:
    from frontend.joins import Joiner

    joiner = Joiner()
    loud = (8000 * np.sin(np.arange(24000) / 20)).astype(np.int16)
    pieces = joiner.push(loud)
    joiner.end(Cut.SENTENCE, 1.0, 2.0)
    pieces += joiner.finish()
    assert sum(map(len, pieces)) == pytest.approx(3 * 24000, rel=0.05)


async def test_an_interrupting_request_gets_the_place_of_the_one_it_ends(desk: Desk) -> None:
    """max_streams is 8; the eighth place is the session's own."""
    from frontend.sessions import OnBusy, Sessions

    worker_of(desk)
    for n in range(7):
        desk.open("6a", client=str(n))
    sessions = Sessions()

    async def request(text: str, on_busy: OnBusy) -> None:
        async with sessions.turn("me", on_busy):
            stream = desk.open(text, client="me")
            try:
                async for _ in stream:
                    pass
            finally:
                stream.close()

    first = asyncio.create_task(request("6c", OnBusy.INTERRUPT))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(request("6d", OnBusy.INTERRUPT))
    await asyncio.sleep(0.05)
    failed = second.done() and second.exception()
    second.cancel()
    with pytest.raises(BaseException):
        await first
    assert not failed, failed


async def test_a_paused_listener_s_failed_stream_takes_no_work(desk: Desk) -> None:
    worker = worker_of(desk)
    stream, _pieces = await paused(desk, worker, "6a 6b 6c 6d 6e 6f", 1, 0.3)
    stream.fail(SpeechError("it is over"))
    count = len(worker.jobs)
    for n in range(1, 6):
        await asyncio.sleep(0.05)
        if len(worker.jobs) > n:
            speak(worker, worker.jobs[n], 0.3)
    got = len(worker.jobs)
    stream.close()
    assert got <= max(count, 3), [j.script for j in worker.jobs]


async def test_marks_survive_a_worker(desk: Desk) -> None:
    from shm.messages import Marks, pack_marks

    worker = worker_of(desk)
    stream = desk.open("6a", client="x", timestamps=True)
    job = await worker.has(1)
    worker.send(Marks(1, job.job, job.segment, pack_marks([(0, 100), (12, 2000), (35, 50000)])))
    samples = len(samples_of(job.script))
    worker.seal(job, 0, samples)
    async with asyncio.timeout(5):
        while not stream.planned[0].blocks:
            await asyncio.sleep(0)
    worker.die()
    desk.workers.remove(worker)
    async with asyncio.timeout(5):
        while not stream.planned[0].resumed:
            await asyncio.sleep(0)
    second = desk.worker(2, engine=KOKORO, ring=30 * SAMPLE_RATE)
    job = await second.has(1)
    assert job.from_sample == samples
    second.end(job)  # nothing is left to be made, so an engine says nothing
    async with asyncio.timeout(5):
        async for _ in stream:
            pass
    assert len(stream.planned) == 0
    stream.close()
    key = desk.dispatcher.key(stream, segment("6a"))
    found = await desk.dispatcher._cache.find(key, marks=True)
    assert found is not None
