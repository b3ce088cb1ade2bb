"""Contexts: when a growing text is spoken, what a flush gives, and what an end gives back."""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator

import numpy as np
import pytest

from frontend.audio.formats import FORMATS, OutputFormat
from frontend.contexts import context as context_module
from frontend.contexts import pending
from frontend.contexts.context import Context
from frontend.contexts.events import Flushed, Spoken
from frontend.contract.errors import ApiError, Overloaded
from frontend.settings.front import FrontSettings
from shm.in_flight import BOARD_BYTES, Board
from shm.memory import reserve
from tests.frontend.contexts_desk import ANSWER, ASKED, PARTS, ContextDesk, Heard, said, scripts
from tests.frontend.scripted_worker import samples_of

TEXT = (
    "The first sentence is about Dr. Smith and his horse. It weighs 3.5 stone in all of the shops. "
    "Nobody knows why the others went home so early."
)
SENTENCE_ENDS = re.compile(r"(?<=\.) ")
SENTENCES = re.split(r"(?<=horse\.|shops\.) ", TEXT)
SPOKEN = [sentence.replace("Dr.", "Doctor") for sentence in SENTENCES]


@pytest.fixture
async def desk() -> AsyncIterator[ContextDesk]:
    made = ContextDesk()
    yield made
    made.close()


def tokens(text: str) -> list[str]:
    """Pieces as a language model writes them: a space comes with the word after it."""
    return re.findall(r"\s*\w{1,4}|\s*[^\w\s]", text)


async def test_a_sentence_is_spoken_once_the_next_one_begins_and_the_last_one_at_the_end(desk: ContextDesk) -> None:
    worker = desk.speaker()
    heard = Heard(desk.context())
    context = heard.context
    for token in tokens(SENTENCES[0]):
        context.write(token)
    assert not context._pending.growing.first, "more words may follow"
    context.write(" It")
    assert await scripts(worker, 1) == SPOKEN[:1]
    for token in tokens(TEXT[len(SENTENCES[0]) + 3 :]):
        context.write(token)
    assert await scripts(worker, 2) == SPOKEN[:2]
    context.finish()
    whole = await heard.whole()
    assert [order.script for order in worker.orders] == SPOKEN
    # The same audio as that of the whole text in one request.
    other = Heard(desk.context())
    other.context.write(TEXT)
    other.context.finish()
    assert np.array_equal(await other.whole(), whole)


async def test_a_flush_has_everything_spoken_and_is_reported_after_its_audio(desk: ContextDesk) -> None:
    worker = desk.speaker()
    heard = Heard(desk.context())
    heard.context.flush()
    await heard.flushed(1)
    assert heard.events == [Flushed(1)], "a flush without text is answered at once"
    heard.context.write("Hello there, this is")
    heard.context.flush()
    await heard.flushed(2)
    assert [order.script for order in worker.orders] == ["Hello there, this is"]
    spoken_before = len(heard.samples)
    heard.context.flush()
    await heard.flushed(3)
    assert len(heard.samples) == spoken_before > 24_000
    heard.context.write("the rest of it.")
    heard.context.finish()
    whole = await heard.whole()
    assert len(whole) > spoken_before


async def test_a_flush_between_sentences_moves_no_sample(desk: ContextDesk) -> None:
    desk.speaker()
    texts = []
    for flushes in (False, True):
        heard = Heard(desk.context())
        for place, sentence in enumerate(SENTENCES):
            heard.context.write(sentence + " ")
            if flushes:
                heard.context.flush()
                await heard.flushed(place + 1)
        heard.context.finish()
        texts.append(await heard.whole())
    assert len(texts[0]) == len(texts[1])
    assert np.mean(texts[0] != texts[1]) < 0.01, "only the fade before a pause ends elsewhere"


async def test_a_text_that_ends_like_a_sentence_is_spoken_after_a_pause_of_the_writer(
    desk: ContextDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "PAUSE", 0.01)
    worker = desk.worker(1)
    heard = Heard(desk.context())
    heard.context.write("Ask Dr.")
    numbered = Heard(desk.context())
    numbered.context.write("It costs 3.")
    complete = Heard(desk.context())
    complete.context.write("That is all.")
    assert await scripts(worker, 1) == ["That is all."]
    heard.context.write(" Smith then.")
    assert (await scripts(worker, 2))[1:] == ["Ask Doctor Smith then."]
    for each in (heard, numbered, complete):
        each.context.drop()
        await each.whole()


async def test_a_pause_of_the_writer_ends_no_wait_while_the_listener_has_enough(
    desk: ContextDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "PAUSE", 0.01)
    looked = asyncio.Event()
    worker = desk.worker(1)
    context = desk.context()

    def plenty(_: object) -> float:
        looked.set()
        return 5.0

    monkeypatch.setattr(pending.PendingText, "seconds_left", property(plenty))
    context.write("That is all.")
    async with asyncio.timeout(60):
        await looked.wait()
    assert not context._pending.growing.first and not worker.orders
    context.drop()


async def test_patience_has_an_incomplete_sentence_spoken(desk: ContextDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "PAUSE", 0.01)
    worker = desk.worker(1)
    heard = Heard(desk.context(patience=0.02))
    heard.context.write("and so on and")
    assert await scripts(worker, 1) == ["and so on and"]
    heard.context.drop()
    await heard.whole()


async def test_closing_frees_the_ring_at_once_and_ends_the_iteration(desk: ContextDesk) -> None:
    worker = desk.worker(1, rings=1)
    heard = Heard(desk.context())
    heard.context.write(TEXT)
    order = await worker.has(1)
    worker.seal(order, 0, 5000)
    heard.context.drop()
    assert not desk.scheduler._shared.streams
    await worker.hears_of_forgotten(1)
    await heard.whole()
    assert desk.services.open.contexts == 0
    again = Heard(desk.context())
    again.context.write(TEXT)
    await worker.has(2)
    again.context.drop()
    await again.whole()


async def test_an_idle_context_gives_its_ring_back_and_speaks_on_later(
    desk: ContextDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "IDLE_AFTER", 0.02)
    worker = desk.speaker()
    heard = Heard(desk.context())
    assert not desk.scheduler._shared.streams, "a context without text is no stream"
    heard.context.write("Yes.")
    heard.context.flush()
    await heard.flushed(1)
    await worker.hears_of_forgotten(1)
    assert not desk.scheduler._shared.streams
    heard.context.write("And later more of it.")
    heard.context.flush()
    await heard.flushed(2)
    heard.context.finish()
    await heard.whole()
    seconds = [event.seconds for event in heard.events if isinstance(event, Spoken)]
    assert seconds == sorted(seconds) and seconds[-1] * 24_000 == len(heard.samples)


@pytest.mark.parametrize(("before", "counted"), [("Yes.", 2), ("🙂", 1)], ids=["a text", "a text without sound"])
async def test_each_text_s_first_audio_is_timed_from_that_text(
    desk: ContextDesk, monkeypatch: pytest.MonkeyPatch, before: str, counted: int
) -> None:
    """A socket's later texts weren't timed, and an emoji's time began what was said minutes after it."""
    monkeypatch.setattr(context_module, "IDLE_AFTER", 0.02)
    asked, waits = 0.0, []
    monkeypatch.setattr(desk.metrics, "speech_began", lambda took: waits.append((took, time.monotonic() - asked)))
    desk.speaker()
    heard = Heard(desk.context())
    for number, text in enumerate((before, "And later more of it."), 1):
        asked = time.monotonic()
        heard.context.write(text)
        heard.context.flush()
        await heard.flushed(number)
        async with asyncio.timeout(60):
            while desk.scheduler._shared.streams or heard.context.speaking:  # noqa: ASYNC110 - nobody tells of an end
                await asyncio.sleep(0)
    heard.context.finish()
    await heard.whole()
    assert len(waits) == counted
    assert all(took <= since_its_text for took, since_its_text in waits)


async def test_a_dead_workers_rest_is_made_by_the_next_one_without_a_changed_sample(desk: ContextDesk) -> None:
    undisturbed = Heard(desk.context())
    first = desk.speaker()
    undisturbed.context.write(TEXT)
    undisturbed.context.finish()
    expected = await undisturbed.whole()
    desk.hush()
    heard = Heard(desk.context())
    heard.context.write(TEXT[:100])
    order = await first.has(len(SENTENCES) + 1)
    first.seal(order, 0, 7000)
    desk.kill(first)
    desk.speaker(2)
    heard.context.write(TEXT[100:])
    heard.context.finish()
    assert np.array_equal(await heard.whole(), expected)


async def test_a_refusal_comes_before_any_audio(desk: ContextDesk) -> None:
    desk.worker(1)
    streams = [desk.open(TEXT) for _ in range(8)]
    heard = Heard(desk.context())
    heard.context.write(TEXT)
    with pytest.raises(Overloaded):
        await heard.whole()
    assert not heard.events
    for stream in streams:
        stream.close()


async def test_a_text_in_one_piece_is_left_to_the_reader(desk: ContextDesk) -> None:
    worker = desk.speaker()
    heard = Heard(Context(desk.services, ASKED, OutputFormat(), whole=True))
    heard.context.write(TEXT)
    assert heard.context._pending.growing.first is None, "its sentences aren't looked for on the event loop"
    heard.context.finish()
    await heard.whole()
    assert [order.script for order in worker.orders] == SPOKEN


async def test_a_death_of_the_front_cuts_a_context_from_its_first_audio_to_its_end(desk: ContextDesk) -> None:
    memory = reserve(BOARD_BYTES)
    board, supervisor = Board(memory), Board(memory)
    os.close(memory)
    desk.services.in_flight.record_on(board)
    worker = desk.worker(1)
    heard = Heard(desk.context())
    heard.context.write(TEXT)
    order = await worker.has(1)
    assert supervisor.read().begun == 0
    worker.seal(order, 0, 24_000)
    async with asyncio.timeout(60):
        while not heard.events:
            await heard._news.wait()
    worker.seal(order, 24_000, len(samples_of(order.script)))
    worker.end(order)
    heard.context.finish()
    for count in range(2, len(SENTENCES) + 1):
        order = await worker.has(count)
        assert supervisor.read().begun == 1
        worker.speak(order)
    await heard.whole()
    assert supervisor.read().begun == 0


async def test_text_too_far_ahead_of_the_speech_is_refused() -> None:
    desk = ContextDesk(FrontSettings(max_input_characters=50))
    context = desk.context()
    context.write("a" * 50)
    with pytest.raises(ApiError, match="51 characters"):
        context.write("a")
    context.drop()
    desk.close()


@pytest.mark.parametrize("form", ["mp3", "pcm"])
async def test_a_context_that_is_closed_amid_its_audio_gives_no_more(desk: ContextDesk, form: str) -> None:
    """A closed codec must not be touched again: FFmpeg's crash the process."""
    desk.speaker()
    context = desk.context(OutputFormat(FORMATS[form]))
    context.write(TEXT)
    context.finish()
    events = []
    async with asyncio.timeout(60):
        async for event in context:
            events.append(event)
            context.drop()
    assert len(events) == 1


async def test_a_text_that_stops_in_a_sentence_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "IDLE_AFTER", 0.01)
    desk = ContextDesk(FrontSettings(growing_text="now"))
    worker = desk.speaker(engine=PARTS)
    heard = Heard(desk.context())
    heard.context.write("I can help you with ")
    await worker.hears_of_forgotten(1)  # its listener has heard all of it
    heard.context.write("that.")
    heard.context.finish()
    await heard.whole()
    assert said(worker) == ["I can help", "you with that."]
    desk.close()


async def test_a_sentence_is_gone_on_with_once_its_opening_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "PLANNED", 0.0)
    monkeypatch.setattr(pending, "SOON", 60.0)
    desk = ContextDesk(FrontSettings(growing_text="now"))
    worker = desk.worker(1, engine=PARTS)
    heard = Heard(desk.context())
    heard.context.write("I can help you with ")
    order = await worker.has(1)
    for word in ("that ", "if ", "you ", "wait ", "for ", "me "):
        heard.context.write(word)
    assert (said(worker), heard.context._pending.said) == (["I can help"], 3)
    worker.speak(order)
    await worker.has(2)
    assert said(worker) == ["I can help", "you with that if you wait"]
    heard.context.drop()
    desk.close()


@pytest.mark.parametrize(("spare", "first"), [(10.0, "I can help"), (0.1, SENTENCE_ENDS.split(ANSWER)[0])])
async def test_an_engine_without_speed_to_spare_is_given_whole_sentences(
    monkeypatch: pytest.MonkeyPatch, spare: float, first: str
) -> None:
    monkeypatch.setattr(pending, "SPARE", spare)
    desk = ContextDesk(FrontSettings())
    worker = desk.speaker(engine=PARTS)
    heard = Heard(desk.context())
    for word in ANSWER.split():
        heard.context.write(f"{word} ")
    heard.context.finish()
    await heard.whole()
    assert said(worker)[0] == first
    desk.close()


async def test_a_whole_sentence_that_comes_at_once_is_one_segment() -> None:
    desk = ContextDesk(FrontSettings(growing_text="now"))
    worker = desk.speaker(engine=PARTS)
    heard = Heard(desk.context())
    heard.context.write(ANSWER)
    heard.context.finish()
    await heard.whole()
    assert said(worker) == SENTENCE_ENDS.split(ANSWER)
    desk.close()


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("pauses", [False, True])
async def test_a_word_that_its_sentence_decides_is_spoken_once(
    monkeypatch: pytest.MonkeyPatch, place: int, pauses: bool
) -> None:
    """However the text comes: "read" waits for its sentence, and streams that end meanwhile spoke none of it."""
    monkeypatch.setattr(pending, "PLANNED", 0.0)
    monkeypatch.setattr(pending, "SOON", 60.0)
    monkeypatch.setattr(context_module, "IDLE_AFTER", 0.01 if pauses else 60.0)
    words = ["I", "can", "help", "you", "with", "that", "if"]
    text = " ".join([*words[:place], "read", *words[place:], "you wait. Then we begin."])
    desk = ContextDesk(FrontSettings(growing_text="now"))
    worker = desk.speaker(engine=PARTS)
    heard = Heard(desk.context())
    for word in text.split(" "):
        heard.context.write(f"{word} ")
        await asyncio.sleep(0.02 if pauses else 0)
    heard.context.finish()
    await heard.whole()
    assert " ".join(said(worker)) == text
    desk.close()
