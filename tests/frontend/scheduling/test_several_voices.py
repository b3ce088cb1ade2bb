"""A stream whose segments have different voices: each is ordered, cached and resumed with its own."""

from collections.abc import AsyncIterator, Iterator

import pytest

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile
from shm.engine_info import EngineInfo
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import ScriptedReader, joined, samples_of
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


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(reader=VoicesReader(), cache_bytes=10_000_000)
    yield made
    made.close()


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
