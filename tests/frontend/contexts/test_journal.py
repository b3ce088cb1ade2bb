"""A socket's notes: a successor continues a context after what was told, and what was told whole is forgotten."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

import frontend.contexts.context as context_module
import frontend.contexts.journal as journal_module
from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.events import Spoken
from frontend.contexts.journal import SocketJournal, SocketPlace
from frontend.serving.record import Record
from frontend.settings.front import FrontSettings
from shm.records import SLOT_BYTES, Slot
from tests.frontend.contexts_desk import ASKED, ContextDesk, Heard, speak_all
from tests.frontend.scripted_worker import ENGINE, ScriptedWorker


class QuickDesk(ContextDesk):
    quick: ScriptedWorker


class Sink(asyncio.Transport):
    """Takes everything."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0


class Socket:
    """One context on a socket with a record."""

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
    made.quick = made.worker(1, engine=msgspec.structs.replace(ENGINE, parts=True))
    speaking = asyncio.create_task(speak_all(made.quick))
    yield made
    speaking.cancel()
    made.close()


async def test_what_was_told_whole_is_noted_no_more_and_made_no_more(desk: QuickDesk) -> None:
    memory = bytearray(SLOT_BYTES)
    slot = Slot(memory, 0)
    slot.clear(1)
    record = Record(slot)
    record.began("one", repeatable=True)
    record.opens(head=0)
    first = Socket(desk, record)
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
    memory = bytearray(SLOT_BYTES)
    slot = Slot(memory, 0)
    slot.clear(1)
    record = Record(slot)
    record.began("one", repeatable=True)
    record.opens(head=0)
    first = Socket(desk, record)
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
