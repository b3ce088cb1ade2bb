"""Segments with voices and inflections of their own: ordered, cached and resumed with these."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from frontend.scheduling.dispatcher import fingerprint
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.inflection import InflectedSpan, Inflection
from shm.score import PhonemeScore, Score, pack
from tests.frontend.desk import Desk, desk_with, heard, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedReader, joined, samples_of
from text.words.performer import Performer
from text.words.segment import Cut, Segment, SpokenWord

ANNA = Performer((("anna", 1.0),), "en-gb")
CARL = Performer((("carl", 1.0),), "en-gb")
BERT = Performer((("bert", 0.5), ("anna", 0.5)), "fr-fr", rate=2.0)


class VoicesReader(ScriptedReader):
    """`A:text|B:text|C:text|text` is a segment of Anna, of Bert, of Carl, and of the request's own voice."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        for part in request.text.split("|"):
            name, _, script = part.rpartition(":")
            performer = {"A": ANNA, "B": BERT, "C": CARL}.get(name)
            rate = performer.rate if performer else 1.0
            words = (SpokenWord(script, script, 0, len(script)),)
            yield Segment(script, script, len(script), Cut.INSIDE, words, rate, performer=performer)


desk = desk_with(reader=VoicesReader, cache_bytes=10_000_000)


async def test_each_segment_is_ordered_with_its_own_voice_language_and_pace(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("A:one|B:two|three"))
    orders = []
    for count in (1, 2, 3):
        orders.append(await worker.has(count))
        worker.speak(orders[-1])
    assert (await heard(listener)).tolist() == joined(*map(samples_of, ("one", "two", "three"))).tolist()
    assert [(order.script, order.voice, order.language, order.speed) for order in orders] == [
        ("one", ANNA.voice, "en-gb", 1.0),
        ("two", BERT.voice, "fr-fr", 2.0),
        ("three", (("af_heart", 1.0),), "en-us", 1.0),
    ]


async def test_a_segment_is_found_in_the_cache_for_its_own_voice_only(desk: Desk) -> None:
    worker = desk.worker(1)
    first = listen(desk.open("A:same"))
    worker.speak(await worker.has(1))
    await heard(first)
    second = desk.open("A:same|B:same|C:same|same")
    listener = listen(second)
    await worker.speaks(2, 3, 4)
    await heard(listener)
    assert [order.voice for order in worker.orders[1:]] == [BERT.voice, CARL.voice, (("af_heart", 1.0),)]
    assert not second.cached


async def test_a_voice_that_loses_its_worker_goes_on_where_it_stopped(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("A:one|B:twotwo"))
    worker.speak(await worker.has(1))
    order = await worker.has(2)
    worker.begin(order)
    worker.seal(order, 0, 1000)
    successor = desk.worker(2)
    desk.workers.remove(worker)
    worker.die()
    resumed = await successor.has(1)
    assert (resumed.voice, resumed.language, resumed.speed, resumed.seed) == (
        order.voice,
        order.language,
        order.speed,
        order.seed,
    )
    assert resumed.from_sample in (0, 1000)
    successor.speak(resumed)
    assert (await heard(listener)).tolist() == joined(samples_of("one"), samples_of("twotwo")).tolist()


async def test_words_say_which_voice_says_them(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = desk.open("A:one|B:two|three", timestamps=True)
    listener = listen(stream)
    await worker.speaks(1, 2, 3)
    await heard(listener)
    assert [(word.word, word.voice) for word in stream.take_words()] == [
        ("one", "anna"),
        ("two", "bert(0.5)+anna(0.5)"),
        ("three", ""),
    ]


HIGH = Inflection(pitch=3.0)


class HighReader(ScriptedReader):
    """Each word is a segment; one that begins with ^ is high."""

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        for part in request.text.split():
            script = part.lstrip("^")
            word = SpokenWord(script, script, 0, len(script))
            word = replace(word, inflection=HIGH) if part != script else word
            yield Segment(script, script, len(script), Cut.INSIDE, (word,))


inflecting = desk_with(reader=HighReader, cache_bytes=10_000_000)


async def test_spans_are_in_the_order_and_in_the_caches_key(inflecting: Desk) -> None:
    worker = inflecting.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    listener = listen(inflecting.open("^same"))
    first = await worker.has(1)
    worker.speak(first)
    await heard(listener)
    listener = listen(inflecting.open("same ^same"))
    plain = await worker.has(2)
    worker.speak(plain)
    await heard(listener)
    assert [first.inflected, plain.inflected] == [(InflectedSpan(0, 4, HIGH),), ()]
    assert len(worker.orders) == 2, "the high one was in the cache"


async def test_a_requests_own_inflection_is_every_words(inflecting: Desk) -> None:
    worker = inflecting.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    listener = listen(inflecting.open("^one", inflection=Inflection(range=0.5)))
    order = await worker.has(1)
    worker.speak(order)
    await heard(listener)
    assert order.inflected == (InflectedSpan(0, 3, Inflection(pitch=3.0, range=0.5)),)


async def test_a_score_comes_in_place_of_the_sound_and_is_neither_its_cache_nor_its_cost(inflecting: Desk) -> None:
    worker = inflecting.worker(1, engine=msgspec.structs.replace(ENGINE, inflects=True))
    score = (PhonemeScore(3, (2000, 2100), (500,)),) * 4
    stream = inflecting.open("^same", score_only=True)
    written = asyncio.create_task(_written(stream))
    wanted = await worker.has(1)
    worker.give(wanted, np.frombuffer(pack(score), np.int16))
    [(segment, speed, found)] = await written
    assert (segment.script, speed, found) == ("same", 1.0, score)
    assert wanted.score_only and wanted.inflected == (InflectedSpan(0, 4, HIGH),)
    assert not inflecting.scheduler.snapshot().costs[f"{ENGINE.name} {ENGINE.model} {ENGINE.provider}"].measured
    stream.close()
    listener = listen(inflecting.open("^same"))
    sound = await worker.has(2)
    worker.speak(sound)
    await heard(listener)
    assert not sound.score_only, "the sound wasn't in the cache"


async def _written(stream: Stream) -> list[tuple[Segment, float, Score]]:
    return [each async for each in stream.scores()]


async def test_an_engine_that_doesnt_inflect_is_asked_for_nothing(inflecting: Desk) -> None:
    worker = inflecting.worker(1)
    listener = listen(inflecting.open("^one", inflection=HIGH))
    order = await worker.has(1)
    worker.speak(order)
    await heard(listener)
    assert order.inflected == ()


def test_a_part_of_a_script_has_a_key_of_its_own() -> None:
    voice, parts = (("af_heart", 1.0),), (None, (0, 2), (2, 4), (0, 4))
    assert len({fingerprint(ENGINE, "same", "en-us", voice, 1.0, (), part) for part in parts}) == len(parts)
