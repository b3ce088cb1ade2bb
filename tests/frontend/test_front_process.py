"""The front process: what it does on the supervisor's messages."""

import asyncio
import errno
import mmap
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest
from frontend.monitoring.metrics import Metrics
from frontend.planning.profile import CostProfile
from frontend.process import FIRST_TEXT, Front, _disk_cache
from frontend.settings.front import FrontSettings
from frontend.streams.cache import CachedSegment, SegmentCache
from shm.engine_info import EngineInfo
from shm.messages import Connect, SharedMemory
from shm.situation import ProcessReport, Situation
from tests.frontend.scripted_worker import ENGINE
from text.settings import TextSettings
from text.words.segment import Notation


class Reader:
    """Stands in for the scheduler, the pipeline, the line to the player and the desk of jobs."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.segmented: list[tuple[str, str]] = []

    def situation(self, _message: Situation) -> None: ...

    def given_up(self, _reason: str) -> None: ...

    def connect(self, _message: Connect, _fds: list[int]) -> None: ...

    def prepare(self, work: Callable[[], None]) -> None:
        work()
        work()

    def segments(self, request: SpeechRequest, _engine: EngineInfo, _profile: CostProfile) -> Iterator[object]:
        self.segmented.append((request.text, request.language))
        yield object()

    def words(self, _text: str, language: str, _notation: Notation) -> list[object]:
        self.read.append(language)
        return []


def front(reader: Reader) -> Front:
    made = Front.__new__(Front)
    made._scheduler = made._pipeline = made._player = made._jobs = made._first_reader = reader
    made._settings = FrontSettings()
    made._loading, made._text, made._metrics = None, TextSettings(), Metrics()
    made._oriented, made._cache, made._in_flight = asyncio.Event(), SegmentCache(0), InFlight()
    return made


def situation(loading: str) -> Situation:
    return Situation("starting", "", {}, processes=(ProcessReport(role="worker", state="starting", loading=loading),))


async def test_english_is_read_once_while_a_worker_loads_kokoro():
    reader = Reader()
    made = front(reader)
    made._follow(situation(""), [])
    assert made._loading is None, "espeak-ng needs no lexicon"
    for _ in range(2):
        made._follow(situation("CPUExecutionProvider"), [])
    assert made._loading is not None
    await made._loading
    assert reader.read == ["en-us"]


def test_the_threads_that_read_texts_have_read_one_of_the_usual_voice_before_anybody_asks() -> None:
    reader = Reader()
    made = front(reader)
    for generation in (1, 2):
        made._connect(Connect(generation, 0, 0, engine=ENGINE), [])
    assert reader.segmented == 2 * [(FIRST_TEXT, "en-us")], "once in each kind of thread"


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
