"""The front process: the supervisor's messages, answers that fronts may have died of, limits, countdowns."""

import asyncio
import errno
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from msgspec.structs import replace

from books.reading.open import MOST_BYTES
from frontend.contract.countdown import Countdown
from frontend.contract.in_flight import InFlight
from frontend.contract.progress import Progress
from frontend.monitoring.metrics import Metrics
from frontend.process import Front, _disk_cache
from frontend.serving import acceptor
from frontend.serving.acceptor import take_over
from frontend.serving.connections import Connections
from frontend.serving.record import DEATHS, Record
from frontend.settings.front import LONGEST_FILE, FrontSettings, JobSettings
from frontend.streams.cache import CachedSegment, SegmentCache
from shm.in_flight import DeathCause
from shm.messages import Connect, SharedMemory
from shm.records import SLOT_BYTES, ConnectionEntry, Records, Slot, reserve_records
from shm.situation import ProcessReport, Situation
from tests.frontend.http_fakes import DEFAULT_TIMEOUT
from tests.frontend.scripted_worker import ENGINE
from tests.frontend.timers import due_timers_act
from text.settings import TextSettings
from text.words.segment import Notation


class Reader:
    """Stands in for the scheduler, the pipeline, the line to the player and the desk of jobs."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def situation(self, _message: Situation) -> None: ...

    def given_up(self, _reason: str) -> None: ...

    def connect(self, _message: Connect, _fds: list[int]) -> None: ...

    def prepare(self, work: Callable[[], None]) -> None:
        work()
        work()

    def words(self, _text: str, language: str, _notation: Notation) -> list[object]:
        self.read.append(language)
        return []


def front(reader: Reader) -> Front:
    made = Front.__new__(Front)
    made._scheduler = made._pipeline = made._player = made._jobs = reader
    made._settings = FrontSettings()
    made._has_read, made._text, made._metrics = False, TextSettings(), Metrics()
    made._oriented, made._cache, made._in_flight = asyncio.Event(), SegmentCache(0), InFlight()
    return made


def situation(loading: str) -> Situation:
    return Situation("starting", "", {}, processes=(ProcessReport(role="worker", state="starting", loading=loading),))


async def test_each_kind_of_thread_that_reads_reads_english_once_before_anybody_asks() -> None:
    reader = Reader()
    made = front(reader)
    made._follow(situation(""), [])
    made._connect(Connect(1, 0, 0, engine=ENGINE), [])
    assert reader.read == [], "espeak-ng needs no lexicon"
    for _ in range(2):
        made._follow(situation("CPUExecutionProvider"), [])
        assert reader.read == 2 * ["en-us"], "while a worker loads Kokoro"
    made = front(reader)
    for generation in (1, 2):
        made._connect(Connect(generation, 0, 0, engine=replace(ENGINE, speaks="phonemes")), [])
    assert reader.read == 4 * ["en-us"]


def test_the_disk_cache_has_the_bounds_of_the_settings(tmp_path: Path) -> None:
    cache = _disk_cache(FrontSettings(disk_cache=tmp_path, disk_cache_bytes=500_000))
    assert cache
    for number in range(20):
        cache.put(bytes([number]), CachedSegment(np.full(50_000, number, np.int16)))
    assert cache.bytes <= 500_000
    assert cache.get(bytes([19])) and not cache.get(bytes([0]))
    cache.close()


def test_a_disk_cache_that_cannot_be_had_is_a_line_in_the_log(tmp_path: Path, caplog) -> None:
    (tmp_path / "file").write_text("")
    assert _disk_cache(FrontSettings(disk_cache=tmp_path / "file" / "below")) is None
    assert "going on without the disk cache" in caplog.text


@pytest.mark.parametrize("holds", ["texts", "records", "sounds"])
async def test_a_front_serves_without_a_memory_that_it_cannot_map(
    holds: Literal["texts", "records", "sounds"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    def mapped(*_: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    made = front(Reader())
    monkeypatch.setattr(mmap, "mmap", mapped)
    memory = os.open(tmp_path / "memory", os.O_RDWR | os.O_CREAT)
    made._follow(SharedMemory(holds), [memory])
    (line,) = caplog.messages
    assert os.strerror(errno.ENOMEM) in line
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(memory)


async def test_fewer_deaths_go_on_first_and_of_these_what_is_being_heard() -> None:
    records = Records(reserve_records())
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    order: list[int] = []
    clients: list[socket.socket] = []

    async def go_on(number: int, deaths: int, begun: bool, listener: socket.socket) -> None:
        class Protocol(asyncio.Protocol):
            def data_received(self, _data: bytes) -> None:
                order.append(number)
                connection.transport.close()

        connection = Protocol()
        connection.connection_made = lambda transport: setattr(connection, "transport", transport)  # type: ignore[method-assign]
        clients.append(socket.create_connection(listener.getsockname()))
        slot = records.begin(number, number)
        assert slot
        slot.receive(b"GET / HTTP/1.1\r\n\r\n")
        place = b"place" if begun else b""
        entry = ConnectionEntry(number, serial=1, received=slot.entry.received, deaths=deaths, begun=begun, place=place)
        slot.commit(entry)
        assert await take_over(connections, slot, listener.accept()[0], lambda: connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.timeout(DEFAULT_TIMEOUT), asyncio.TaskGroup() as group:
            for number, (deaths, begun) in enumerate(((2, False), (1, False), (0, False), (0, True))):
                group.create_task(go_on(number, deaths, begun, listener))
    assert order == [3, 2, 1, 0]
    for client in clients:
        client.close()


async def test_the_turn_of_every_answer_comes_though_fronts_die_sooner_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round another front dies while the answer still waits, unless it need not wait any more."""
    monkeypatch.setattr(acceptor, "LATER", 3600.0)
    monkeypatch.setattr(acceptor, "ALONE", 0.0)
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, deaths=6))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        ours = listener.accept()[0]
        for waited in range(1, 8):
            waiting = asyncio.create_task(take_over(connections, slot, ours, asyncio.Protocol))
            await asyncio.sleep(0)
            assert (slot.entry.deaths, slot.entry.waited, waiting.done()) == (6, waited, False), "it isn't to blame"
            waiting.cancel()
        connection = await take_over(connections, slot, ours, asyncio.Protocol)
        assert connection is not None and (slot.entry.deaths, slot.entry.waited) == (7, 0)
        connection.close()


@pytest.mark.parametrize(("encoded", "caught_up", "counted"), [(0, False, 1), (480, True, 1), (480, False, 0.25)])
async def test_a_death_on_the_way_to_where_the_last_front_died_counts_in_part(
    encoded: int, caught_up: bool, counted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "ALONE", 0.0)
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, Metrics())
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, encoded=encoded, caught_up=caught_up))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        connection = await take_over(connections, slot, listener.accept()[0], asyncio.Protocol)
        assert connection is not None and connection.record is not None
        assert (slot.entry.unexplained, slot.entry.caught_up) == (counted, False)
        connection.close()


@pytest.mark.parametrize(("why", "code"), [({"lost": True}, 1012), ({"unexplained": DEATHS}, 1011)])
async def test_a_socket_that_is_not_continued_is_closed_in_its_protocol(
    why: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the frame of which the client has a part."""
    metrics = Metrics()
    connections = Connections(asyncio.Protocol, FrontSettings(), 10, metrics)
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.send(b"\x81\x02{}", ConnectionEntry(1, serial=1, begun=True, is_socket=True), all_taken=True)
    slot.commit(replace(slot.entry, **why))
    monkeypatch.setattr(acceptor, "taken", lambda _: 1)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        ours = listener.accept()[0]
        assert await take_over(connections, slot, ours, cause=DeathCause.OUTSIDE) is None
        ours.close()
        assert client.recv(16) == b"\x02{}\x88\x02" + code.to_bytes(2, "big")
    assert metrics.totals()["kokoro_live_connections_closed_total"] == 1


def test_a_successor_knows_since_when_a_request_waits_and_how_it_was_planned() -> None:
    slot = Slot(bytearray(SLOT_BYTES), 0)
    first, before = Record(slot), time.monotonic()
    first.began("one", repeatable=True)
    after = time.monotonic()
    first.keep_profile([1.0, 2.0])
    assert first.profile == []
    successor = Record(slot, b"")
    successor.began("one", repeatable=True)
    assert successor.again and before <= successor.arrived <= after
    assert (successor.profile, successor.left) == ([1.0, 2.0], b"")
    slot.next_request()
    successor.began("two", repeatable=True)
    assert successor.profile == []


@pytest.mark.parametrize("again", [True, False])
def test_a_text_is_cleared_once_more_of_it_is_encoded_than_by_the_fronts_that_died(again: bool) -> None:
    """The first samples of a new request clear nothing."""
    slot = Slot(bytearray(SLOT_BYTES), 0)
    slot.commit(ConnectionEntry(1, serial=1, encoded=4800))
    cleared: list[int] = []
    samples = 0
    progress = Progress(moved=Record(slot, b"").moved, again=again, went_on=lambda: cleared.append(samples))
    for samples in (2400, 4800, 7200, 9600):
        progress.encoded(samples)
    assert cleared == [7200] * again


@pytest.mark.parametrize("name", ["max_body_bytes", "max_input_characters"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_that_lets_nothing_through_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not {value}"):
        FrontSettings(**{name: value})


def test_an_announcement_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    with pytest.raises(ValueError, match=r"wyoming_zeroconf needs the extra zeroconf: .*install .*zeroconf"):
        FrontSettings(wyoming_zeroconf=True)


def test_the_longest_upload_is_the_longest_file_that_is_read() -> None:
    assert JobSettings().max_job_bytes == LONGEST_FILE == MOST_BYTES


@pytest.mark.parametrize(("name", "value"), [("max_jobs", -1), ("jobs_between", "at night")])
def test_wrong_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        JobSettings(**{name: value})  # type: ignore[arg-type]


async def test_a_countdown_acts_once_for_each_start() -> None:
    running: list[bool] = []
    countdown = Countdown(lambda: running.append(countdown.running))
    for start in (1, 2):
        countdown.start(0.0)
        assert countdown.running
        await due_timers_act()
        assert running == [False] * start
    assert not countdown.running


async def test_a_countdown_that_is_stopped_or_started_again_forgets_its_former_time() -> None:
    acted: list[str] = []
    stopped = Countdown(lambda: acted.append("stopped"))
    restarted = Countdown(lambda: acted.append("restarted"))
    for each in (stopped, restarted):
        each.start(0.0)
    stopped.stop()
    restarted.start(1000.0)
    await due_timers_act()
    assert (acted, stopped.running, restarted.running) == ([], False, True)
    for each in (stopped, restarted):
        each.stop()
