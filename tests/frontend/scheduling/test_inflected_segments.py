"""Inflected segments: ordered with their spans, from an engine that follows them, and cached for these alone."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from frontend.scheduling.dispatcher import fingerprint
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.inflection import InflectedSpan, Inflection
from shm.score import PhonemeScore, Score, pack
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedReader
from text.words.segment import Cut, Segment, SpokenWord

HIGH = Inflection(pitch=3.0)


class HighReader(ScriptedReader):
    """Each word is a segment; one that begins with ^ is high."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        for part in request.text.split():
            script = part.lstrip("^")
            word = SpokenWord(script, script, 0, len(script))
            word = replace(word, inflection=HIGH) if part != script else word
            yield Segment(script, script, len(script), Cut.INSIDE, (word,))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(reader=HighReader(), cache_bytes=10_000_000)
    yield made
    made.close()


async def test_spans_are_in_the_order_and_in_the_caches_key(desk: Desk) -> None:
    worker = desk.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    listener = listen(desk.open("^same"))
    first = await worker.has(1)
    worker.speak(first)
    await heard(listener)
    listener = listen(desk.open("same ^same"))
    plain = await worker.has(2)
    worker.speak(plain)
    await heard(listener)
    assert [first.inflected, plain.inflected] == [(InflectedSpan(0, 4, HIGH),), ()]
    assert len(worker.orders) == 2, "the high one was in the cache"


async def test_a_requests_own_inflection_is_every_words(desk: Desk) -> None:
    worker = desk.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    listener = listen(desk.open("^one", inflection=Inflection(range=0.5)))
    order = await worker.has(1)
    worker.speak(order)
    await heard(listener)
    assert order.inflected == (InflectedSpan(0, 3, Inflection(pitch=3.0, range=0.5)),)


async def test_a_score_comes_in_place_of_the_sound_and_is_neither_its_cache_nor_its_cost(desk: Desk) -> None:
    worker = desk.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    score = (PhonemeScore(3, (2000, 2100), (500,)),) * 4
    stream = desk.open("^same", score_only=True)
    written = asyncio.create_task(_written(stream))
    wanted = await worker.has(1)
    worker.give(wanted, np.frombuffer(pack(score), np.int16))
    [(segment, speed, found)] = await written
    assert (segment.script, speed, found) == ("same", 1.0, score)
    assert wanted.score_only and wanted.inflected == (InflectedSpan(0, 4, HIGH),)
    assert not desk.scheduler.snapshot().costs[f"{ENGINE.name} {ENGINE.model} {ENGINE.provider}"].measured
    stream.close()
    listener = listen(desk.open("^same"))
    sound = await worker.has(2)
    worker.speak(sound)
    await heard(listener)
    assert not sound.score_only, "the sound wasn't in the cache"


async def _written(stream: Stream) -> list[tuple[Segment, float, Score]]:
    return [each async for each in stream.scores()]


async def test_an_engine_that_doesnt_inflect_is_asked_for_nothing(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("^one", inflection=HIGH))
    order = await worker.has(1)
    worker.speak(order)
    await heard(listener)
    assert order.inflected == ()


def test_a_part_of_a_script_has_a_key_of_its_own() -> None:
    voice, parts = (("af_heart", 1.0),), (None, (0, 2), (2, 4), (0, 4))
    assert len({fingerprint(ENGINE, "same", "en-us", voice, 1.0, (), part) for part in parts}) == len(parts)
