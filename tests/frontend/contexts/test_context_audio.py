"""A context's audio: words with it, one report of each flush, how early it begins, and what a successor is told."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop

import frontend.contexts.context as context_module
import frontend.contexts.journal as journal_module
from client.asynchronous import AsyncClient
from frontend.audio.formats import OutputFormat
from frontend.contexts.context import SILENCE_SECONDS, Context, ContextAudio, Flushes
from frontend.contexts.events import Flushed, Spoken
from frontend.contexts.journal import ContextNotes, Settled, SocketJournal, SocketPlace
from frontend.contract.errors import Interrupted
from frontend.contract.stages import Stages
from frontend.monitoring.metrics import Metrics
from frontend.serving.record import Record
from frontend.serving.services import Services
from frontend.settings.front import Begins, FrontSettings
from shm.audio import SAMPLE_RATE
from shm.records import SLOT_BYTES, Slot
from shm.timing import WordTiming
from tests.frontend.contexts_desk import ANSWER, ASKED, PARTS, ContextDesk, Heard, said
from tests.frontend.http.dialects_desk import office
from tests.frontend.http.dialects_messages import CARTESIA, DEEPGRAM, ELEVENLABS, VOICE, speak
from tests.frontend.http_fakes import FakeSpeaker, speech
from tests.frontend.scripted_worker import ScriptedWorker
from tests.frontend.wyoming_desk import house

CHUNK = 240
"""Samples of a chunk."""
WORDS = (WordTiming("Hi", "Hi", 0.0, 0.1),)


@pytest.fixture
async def audio() -> AsyncIterator[ContextAudio]:
    services = Services(FakeSpeaker(), FrontSettings(chunk_ms=10), Metrics())
    made = ContextAudio(services, OutputFormat(), SAMPLE_RATE, time.monotonic(), Stages(), ContextNotes())
    yield made
    made.interrupt()
    services.encoders.stop_threads()


async def all_of(events: AsyncIterator[Spoken]) -> list[Spoken]:
    return [event async for event in events]


async def test_words_go_with_the_first_audio_after_them(audio: ContextAudio) -> None:
    assert not audio.sounded
    piece = speech(2 * CHUNK + 10)
    events = await all_of(audio.encode(piece, WORDS))
    assert b"".join(event.audio for event in events) == piece.tobytes()
    assert [event.words for event in events] == [WORDS, (), ()]
    assert [event.seconds for event in events] == [CHUNK / 24_000, 2 * CHUNK / 24_000, audio.seconds]
    assert audio.sounded and audio.seconds == len(piece) / 24_000


async def test_words_without_audio_are_given_alone(audio: ContextAudio) -> None:
    assert await all_of(audio.encode(np.empty(0, np.int16), WORDS)) == [Spoken(b"", 0.0, WORDS)]
    assert not audio.sounded


async def test_a_text_without_a_sound_ends_in_silence(audio: ContextAudio) -> None:
    assert b"".join(event.audio for event in await all_of(audio.finish())) == bytes(
        2 * round(SILENCE_SECONDS * SAMPLE_RATE)
    )


async def test_a_text_with_a_sound_ends_without_silence(audio: ContextAudio) -> None:
    await all_of(audio.encode(speech(CHUNK)))
    assert await all_of(audio.finish()) == [Spoken(b"", CHUNK / 24_000)]


async def test_audio_that_is_closed_amid_a_piece_gives_no_more(audio: ContextAudio) -> None:
    events = []
    with pytest.raises(Interrupted):
        async for event in audio.encode(speech(2 * CHUNK)):
            events.append(event)
            audio.interrupt()
    assert len(events) == 1 and audio.seconds == CHUNK / 24_000
    with pytest.raises(Interrupted):
        await all_of(audio.finish())


def test_flushes_are_reported_in_order_and_once() -> None:
    flushes = Flushes(Settled())
    for report in (True, False, True, True):
        flushes.add(report)
    assert list(flushes.reach(1)) == [Flushed(1)]
    assert list(flushes.reach(1)) == []
    assert list(flushes.reach(3)) == [Flushed(2)], "an unreported flush has no number"
    assert flushes.reached == 3
    assert list(flushes.reach(4)) == [Flushed(3)]


Writing = tuple[ContextDesk, Callable[[str], Awaitable[None]], Callable[[], Awaitable[None]]]
"""The desk, and functions that write a piece of text and end the text."""

_ENDS: dict[str, Any] = {
    ELEVENLABS: {"context_id": "a", "close_context": True},
    CARTESIA: {"transcript": "", "context_id": "a", "continue": False, **VOICE},
    DEEPGRAM: {"type": "Flush"},
}


@asynccontextmanager
async def writing(way: str, settings: FrontSettings) -> AsyncIterator[Writing]:
    if way == "context":
        desk = ContextDesk(settings)
        desk.speaker(engine=PARTS)
        heard = Heard(desk.context())

        async def write(text: str) -> None:
            heard.context.write(text)

        async def end() -> None:
            heard.context.finish()
            await heard.whole()

        yield desk, write, end
        desk.close()
    elif way == "wyoming":
        async with house(settings, engine=PARTS) as desk, desk.client() as client:
            await client.say(SynthesizeStart())
            yield desk, lambda text: client.say(SynthesizeChunk(text)), lambda: client.say(SynthesizeStop())
    else:
        async with office(settings, engine=PARTS) as desk, desk.connect(way) as socket:
            yield desk, lambda text: socket.send_json(speak(way, text)), lambda: socket.send_json(_ENDS[way])


@pytest.mark.parametrize(
    ("begins", "there", "first"),
    [
        ("now", "with ", "I can help"),
        ("clause", "first ", "I can help you with that,"),
        ("sentence", "Then ", "I can help you with that, but first I need to know which account you mean."),
    ],
)
@pytest.mark.parametrize("way", ["context", "wyoming", ELEVENLABS, CARTESIA, DEEPGRAM])
async def test_a_sentence_is_begun_as_early_as_the_setting_says(
    way: str, begins: Begins, there: str, first: str
) -> None:
    """The first segment is ordered when the text up to `there` was written, a token at a time, and no more."""
    head, _, tail = ANSWER.partition(there)
    async with writing(way, FrontSettings(growing_text=begins, max_streams=8)) as (desk, write, end):
        [worker] = desk.workers
        for token in re.findall(r"\w+\W*", head + there):
            await write(token)
        await worker.has(1)
        assert said(worker) == [first]
        for token in re.findall(r"\w+\W*", tail):
            await write(token)
        await end()
        await worker.news(lambda: " ".join(said(worker)) == ANSWER)


async def test_a_body_tells_of_a_sentence_when_it_is_begun_and_when_it_is_whole() -> None:
    first, then = ANSWER[: ANSWER.index("Then") - 1], ANSWER[ANSWER.index("Then") :]
    path = "/v1/audio/speech/text?timestamps=sentence&stream_format=sse&response_format=pcm"
    async with office(FrontSettings(growing_text="now", max_streams=8), engine=PARTS) as desk:
        [worker] = desk.workers

        async def body() -> AsyncIterator[bytes]:
            for number, token in enumerate(["Yes. ", *re.findall(r"\w+\W*", ANSWER)]):
                yield token.encode()
                if number in (1, 6):
                    await worker.has(1 + (number == 6))

        client = AsyncClient(desk.url)
        told = [event async for event in client.events(path, body()) if event["type"] == "speech.audio.sentence"]
        await client.close()
    begun = (1, "I can help you with that,")
    assert [(event["number"], event["text"]) for event in told] == [(0, "Yes."), begun, (1, first), (2, then)]
    assert said(worker)[:2] == ["Yes.", "I can help you"], "a numbered sentence waits for no other"


class QuickDesk(ContextDesk):
    quick: ScriptedWorker


class Sink(asyncio.Transport):
    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0


class Socket:
    def __init__(self, desk: ContextDesk, record: Record) -> None:
        record.attach(Sink())
        self.journal = SocketJournal(record)
        record.goes_on()
        self.journal.describe = self._place
        for _, _, notes in self.journal.left_contexts():
            self.context = Context(desk.services, ASKED, OutputFormat(), notes=notes)
        if self.journal.left is None:
            self.context = Context(desk.services, ASKED, OutputFormat(), notes=self.journal.opened("a"))
        self.heard = Heard(self.context)

    def _place(self) -> SocketPlace:
        return SocketPlace(True, [], None, False, self.context.speaking, [self.context.notes.place(0, [])])


@pytest.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[QuickDesk]:
    monkeypatch.setattr(context_module, "IDLE_AFTER", 0.01)
    monkeypatch.setattr(journal_module, "_SPARE", 64)
    made = QuickDesk(FrontSettings(growing_text="now"))
    made.quick = made.speaker(engine=PARTS)
    yield made
    made.close()


def opened(desk: ContextDesk) -> tuple[Socket, Slot, bytearray]:
    """A socket in its first front, its slot, and the memory that outlives the front."""
    memory = bytearray(SLOT_BYTES)
    slot = Slot(memory, 0)
    slot.clear(1)
    record = Record(slot)
    record.began("one", repeatable=True)
    record.opens(head=0)
    return Socket(desk, record), slot, memory


async def test_what_was_told_whole_is_noted_no_more_and_made_no_more(desk: QuickDesk) -> None:
    first, slot, memory = opened(desk)
    for number in range(1, 9):
        first.context.write("Yes. ")
        first.context.flush()
        await first.heard.flushed(number)
        await desk.quick.hears_of_forgotten(number)
        first.context.write("And")  # held while the stream ends
        first.context.write(" ")
    assert slot.notes.count(b"Yes. ") <= 2
    first.journal.keep()
    left = bytearray(memory)
    first.context.write("more of it.")
    first.context.finish()
    await first.heard.whole()

    second = Socket(desk, Record(Slot(left, 0), b""))
    orders = len(desk.quick.orders)
    second.context.write("more of it.")
    second.context.finish()
    await second.heard.whole()
    told = len(first.heard.samples) - len(second.heard.samples)
    assert told > 0 and (first.heard.samples[told:] == second.heard.samples).all()
    seconds = [max(e.seconds for e in each.heard.events if isinstance(e, Spoken)) for each in (first, second)]
    assert seconds[0] == seconds[1], "the duration is that of all its audio"
    assert len(desk.quick.orders) == orders + 1


@pytest.mark.parametrize("idle", [False, True])
async def test_a_sentence_that_was_begun_is_gone_on_with_by_a_successor(desk: QuickDesk, idle: bool) -> None:
    first, _, memory = opened(desk)
    for word in ["I", "can", "help", "you", "with", "that", ""]:
        first.context.write(f"{word} ")
    await desk.quick.has(1)
    if idle:
        await desk.quick.hears_of_forgotten(1)
    first.journal.keep()
    left = bytearray(memory)
    rest = "and all of it. "
    first.context.write(rest)
    first.context.finish()
    await first.heard.whole()
    orders = [(order.script, order.part) for order in desk.quick.orders]

    second = Socket(desk, Record(Slot(left, 0), b""))
    second.context.write(rest)
    second.context.finish()
    await second.heard.whole()
    again = [(order.script, order.part) for order in desk.quick.orders[len(orders) :]]
    assert again and again == orders[-len(again) :]
    told = len(first.heard.samples) - len(second.heard.samples)
    assert (first.heard.samples[told:] == second.heard.samples).all()


async def test_a_text_that_was_hurried_is_hurried_at_the_same_place_by_a_successor(desk: QuickDesk) -> None:
    first, _, memory = opened(desk)
    first.context.write("Yes. And")
    first.context._pending.growing.hurry()
    first.journal.keep()
    second = Socket(desk, Record(Slot(bytearray(memory), 0), b""))
    for each in (first, second):
        growing = each.context._pending.growing
        assert not growing.hurried
        assert growing.take() is not None
        assert growing.hurried
        each.context.drop()
