"""The cache of segments: what was kept is found, in other requests' texts too; bounds hold; damage is a miss."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import diskcache
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.contract.errors import ListenersFirst
from frontend.contract.request import SpeechRequest, Urgency
from frontend.planning.profile import CostProfile
from frontend.scheduling.dispatcher import fingerprint
from frontend.streams.cache import CachedSegment, DiskCache, SegmentCache, from_bytes, to_bytes
from frontend.streams.joins import FADE, LONGEST_LEAD
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.situation import Situation
from tests.engine_infos import kokoro
from tests.frontend.desk import Desk, desk_with, heard, listen, spoken
from tests.frontend.scripted_worker import ENGINE, PER_TOKEN, ScriptedReader
from tests.frontend.streams.cache_writing import HOUR, sound, write_segments
from text.words.segment import Cut, Segment

VOICED = kokoro(voices_sha256="v")
ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from tests.frontend.streams.cache_writing import write_segments
write_segments(Path(sys.argv[1]), int(sys.argv[2]))
"""


def same(one: CachedSegment | None, other: CachedSegment) -> bool:
    return one is not None and np.array_equal(one.samples, other.samples) and one.marks == other.marks


def damaged(folder: Path) -> Path:
    """The folder's only value, in which a bit has turned."""
    (file,) = folder.glob("**/*.val")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    return file


@contextmanager
def cache(folder: Path | None, max_bytes: int = 1 << 20, ttl: float = HOUR) -> Iterator[SegmentCache]:
    made = SegmentCache(max_bytes, DiskCache(folder, 1 << 24, ttl) if folder else None)
    try:
        yield made
    finally:
        made.store_rest()


async def test_what_was_kept_is_found_and_counted() -> None:
    with cache(None) as segments:
        assert await segments.find(b"a") is None
        segments.keep(b"a", sound())
        assert same(await segments.find(b"a"), sound())
        assert (segments.hits, segments.misses, segments.segments) == (1, 1, 1)


async def test_a_segment_without_marks_is_a_miss_where_marks_are_wanted() -> None:
    with cache(None) as segments:
        segments.keep(b"a", CachedSegment(np.ones(10, np.int16)))
        assert await segments.find(b"a", marks=True) is None
        assert await segments.find(b"a") is not None


async def test_a_disk_remembers_across_servers(tmp_path: Path) -> None:
    with cache(tmp_path) as segments:
        segments.keep(b"a", sound(100_000))
    with cache(tmp_path) as segments:
        assert same(await segments.find(b"a"), sound(100_000))
    with cache(tmp_path, max_bytes=0) as segments:
        assert same(await segments.find(b"a"), sound(100_000))


async def test_what_is_too_old_is_made_again(tmp_path: Path) -> None:
    with cache(tmp_path, max_bytes=0, ttl=-1) as segments:
        segments.keep(b"a", sound())
    with cache(tmp_path) as segments:
        assert await segments.find(b"a") is None


async def test_damaged_files_are_misses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with cache(tmp_path) as segments:
        segments.keep(b"a", sound(100_000))
    file = damaged(tmp_path)
    with cache(tmp_path) as segments:
        assert await segments.find(b"a") is None
        assert "checksum" in caplog.text
        file.unlink()
        assert await segments.find(b"a") is None


async def test_nothing_on_the_disk_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return pytest.fail, ("it was unpickled",)

    planted = diskcache.Cache(str(tmp_path))
    planted.set(b"a", Bomb())
    planted.close()

    with cache(tmp_path) as segments:
        assert await segments.find(b"a") is None


def taken(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_a_disk_s_bound_is_kept(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2_000_000, HOUR)
    for number in range(100):
        disk.put(bytes([number]), sound(50_000, number))
        assert taken(tmp_path) <= 2_000_000, "with its index and log, after each segment"
    assert disk.get(bytes([99])) is not None
    assert disk.get(bytes([0])) is None
    disk.close()


def test_a_bound_of_a_few_segments_keeps_a_few(tmp_path: Path) -> None:
    """Long segments go one or two at a time: a folder that is full isn't empty after the next one."""
    disk = DiskCache(tmp_path, 1_000_000, HOUR)
    for number in range(40):
        disk.put(bytes([number]), sound(50_000, number))
        assert number < 5 or all(disk.get(bytes([late])) for late in range(number - 4, number + 1))
    disk.put(b"longer than the bound", sound(2_000_000))
    assert disk.get(bytes([39])), "a segment that can't be kept has cost another its place"
    disk.close()
    assert taken(tmp_path) <= 1_000_000


def test_a_lower_bound_reduces_the_folder_of_an_earlier_start(tmp_path: Path) -> None:
    with closing(DiskCache(tmp_path, 2_000_000, HOUR)) as disk:
        for number in range(15):
            disk.put(bytes([number]), sound(50_000, number))
    with closing(DiskCache(tmp_path, 500_000, HOUR)) as disk:
        assert disk.bytes <= 500_000


def test_a_shorter_lifetime_counts_for_what_an_earlier_start_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(DiskCache(tmp_path, 1_000_000, 24 * HOUR)) as disk:
        disk.put(b"a", sound())
    later = time.time() + 2 * HOUR
    monkeypatch.setattr(time, "time", lambda: later)
    with closing(DiskCache(tmp_path, 1_000_000, 24 * HOUR)) as disk:
        assert disk.get(b"a")
    with closing(DiskCache(tmp_path, 1_000_000, HOUR)) as disk:
        assert disk.get(b"a") is None


def test_two_servers_share_a_folder(tmp_path: Path) -> None:
    """Both write at once: all that is found is as it was stored, the bound holds, and one finds what another made."""
    program = [sys.executable, "-c", WRITER, str(tmp_path)]
    servers = [subprocess.Popen([*program, str(first)], cwd=ROOT) for first in (0, 100)]
    assert [server.wait() for server in servers] == [0, 0]
    assert taken(tmp_path) <= 4_000_000
    with closing(DiskCache(tmp_path, 4_000_000, HOUR)) as disk:
        found = {number: segment for number in range(140) if (segment := disk.get(bytes([number])))}
    assert all(same(segment, sound(50_000, number)) for number, segment in found.items())
    assert len(found) > 20
    write_segments(tmp_path, 200)
    with closing(DiskCache(tmp_path, 4_000_000, HOUR)) as disk:
        assert disk.get(bytes([239]))


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        DiskCache(tmp_path / "file" / "cache", 1, HOUR)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_segment_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        from_bytes(data)


def test_a_segment_comes_back_from_its_bytes() -> None:
    assert same(from_bytes(to_bytes(sound())), sound())


def test_whatever_changes_the_sound_changes_the_key() -> None:
    voice = (("af_heart", 1.0),)
    key = fingerprint(VOICED, "a", "en-us", voice, 1.0)
    assert fingerprint(msgspec.structs.replace(VOICED, provider="CUDA"), "a", "en-us", voice, 1.0) == key
    for change in (
        {"name": "espeak-ng"},
        {"model": "n"},
        {"model_sha256": "x"},
        {"voices_sha256": "w"},
        {"rendering": "whole"},
    ):
        assert fingerprint(msgspec.structs.replace(VOICED, **change), "a", "en-us", voice, 1.0) != key
    others = [("b", "en-us", voice, 1.0), ("a", "en-gb", voice, 1.0), ("a", "en-us", voice, 1.1)]
    others.append(("a", "en-us", (("af_heart", 0.5), ("am_adam", 0.5)), 1.0))
    for other in others:
        assert fingerprint(VOICED, *other) != key


desk = desk_with(cache_bytes=1 << 20)


async def test_a_sentence_that_comes_again_in_another_text_is_not_made_again(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one|two"))
    await worker.speaks(1, 2)
    await heard(listener)
    again = desk.open("new|two")
    listener = listen(again)
    worker.speak(await worker.has(3))
    assert np.array_equal(await heard(listener), spoken("new|two"))
    assert [order.script for order in worker.orders] == ["one", "two", "new"]
    assert not again.cached, "a part of it had to be made"


async def test_a_text_that_was_spoken_whole_needs_no_worker(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one|two"))
    await worker.speaks(1, 2)
    first = await heard(listener)
    desk.kill(worker)
    desk.scheduler.situation(Situation("starting", "the worker is starting", {}))
    stream = desk.open("one|two|one")
    assert await stream.all_cached()
    assert np.array_equal(await heard(listen(stream)), spoken("one|two|one"))
    assert stream.cached
    assert stream.tokens == 9
    assert len(first)


async def test_a_text_that_is_new_is_known_to_be_new_before_it_is_spoken(desk: Desk) -> None:
    desk.worker(1)
    assert not await desk.open("unheard").all_cached()


async def test_a_fresh_request_neither_takes_nor_keeps(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("one", fresh=True))
    worker.speak(await worker.has(1))
    await heard(listener)
    listener = listen(desk.open("one"))
    worker.speak(await worker.has(2))
    await heard(listener)
    fresh = desk.open("one", fresh=True)
    listener = listen(fresh)
    worker.speak(await worker.has(3))
    await heard(listener)
    assert not fresh.cached


async def test_a_segment_that_was_resumed_by_another_worker_is_kept_whole(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("hello there"))
    order = await first.has(1)
    first.seal(order, 0, 333)
    desk.kill(first)
    second = desk.worker(2)
    second.speak(await second.has(1))
    assert np.array_equal(await heard(listener), spoken("hello there"))
    assert np.array_equal(await heard(listen(desk.open("hello there"))), spoken("hello there"))
    assert len(second.orders) == 1


async def test_a_segment_whose_listener_left_in_its_middle_is_not_kept(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = desk.open("hello")
    listener = listen(stream)
    order = await worker.has(1)
    worker.seal(order, 0, PER_TOKEN)
    listener.cancel()
    await worker.hears_of_forgotten(1)
    listener = listen(desk.open("hello"))
    worker.speak(await worker.has(2))
    assert np.array_equal(await heard(listener), spoken("hello"))


async def test_what_nobody_waits_for_gives_way_to_who_listens(desk: Desk) -> None:
    worker = desk.worker(1)
    ahead = listen(desk.open("ahead|of time", urgency=Urgency.IDLE))
    await worker.has(1)
    listener = listen(desk.open("now"))
    with pytest.raises(ListenersFirst):
        await ahead
    with pytest.raises(ListenersFirst):
        desk.open("ahead|of time", urgency=Urgency.IDLE)
    worker.speak(await worker.has(2))
    assert np.array_equal(await heard(listener), spoken("now"))


async def test_idle_is_when_something_can_speak_and_nothing_does(desk: Desk) -> None:
    idle = desk.scheduler._standing.idle
    assert not idle.is_set(), "there is no worker"
    worker = desk.worker(1)
    await desk.scheduler.idle()
    listener = listen(desk.open("one"))
    assert not idle.is_set()
    worker.speak(await worker.has(1))
    await heard(listener)
    await desk.scheduler.idle()


class PausingReader(ScriptedReader):
    """Gives one sentence, and asks for that pause after it."""

    def __init__(self, pause: float | None) -> None:
        self._pause = pause

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        yield Segment("a", "a", 1, Cut.SENTENCE, pause=self._pause)


@pytest.mark.parametrize(("asked", "speed", "seconds"), [(None, 1.0, 0.43), (None, 2.0, 0.215), (1.5, 2.0, 1.5)])
async def test_a_silence_is_given_as_far_as_the_segments_pause_has_room(
    asked: float | None, speed: float, seconds: float
) -> None:
    desk = Desk(cache_bytes=1 << 20, reader=PausingReader(asked))
    desk.worker(1)
    voice = (("af_heart", 1.0),)
    sound = np.concatenate((np.full(SAMPLE_RATE, 9000, np.int16), np.zeros(2 * SAMPLE_RATE, np.int16)))
    desk.scheduler._shared.cache.keep(fingerprint(ENGINE, "a", "en-us", voice, speed), CachedSegment(sound))
    stream = desk.scheduler.open(SpeechRequest("id", "a", voice, "en-us", speed))
    piece = await anext(aiter(stream))
    assert len(piece) == round((1 + seconds - LONGEST_LEAD - FADE) * SAMPLE_RATE)
    desk.close()
