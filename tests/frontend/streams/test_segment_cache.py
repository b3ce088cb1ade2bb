"""The segment cache: what was kept is found, bounds hold, and a damaged disk is a miss."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.scheduling.dispatcher import fingerprint
from frontend.streams.cache import CachedSegment, DiskCache, SegmentCache, from_bytes, to_bytes
from tests.engine_infos import kokoro
from tests.frontend.streams.cache_writing import HOUR, spoken, write_segments

ENGINE = kokoro(voices_sha256="v")
ROOT = Path(__file__).parents[4]
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
        made.close()


async def test_what_was_kept_is_found_and_counted() -> None:
    with cache(None) as segments:
        assert await segments.find(b"a") is None
        segments.keep(b"a", spoken())
        assert same(await segments.find(b"a"), spoken())
        assert (segments.hits, segments.misses, segments.segments) == (1, 1, 1)


async def test_a_segment_without_marks_is_a_miss_where_marks_are_wanted() -> None:
    with cache(None) as segments:
        segments.keep(b"a", CachedSegment(np.ones(10, np.int16)))
        assert await segments.find(b"a", marks=True) is None
        assert await segments.find(b"a") is not None


async def test_a_disk_remembers_across_servers(tmp_path: Path) -> None:
    with cache(tmp_path) as segments:
        segments.keep(b"a", spoken(100_000))
    with cache(tmp_path) as segments:
        assert same(await segments.find(b"a"), spoken(100_000))
    with cache(tmp_path, max_bytes=0) as segments:
        assert same(await segments.find(b"a"), spoken(100_000))


async def test_what_is_too_old_is_made_again(tmp_path: Path) -> None:
    with cache(tmp_path, max_bytes=0, ttl=-1) as segments:
        segments.keep(b"a", spoken())
    with cache(tmp_path) as segments:
        assert await segments.find(b"a") is None


async def test_damaged_files_are_misses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with cache(tmp_path) as segments:
        segments.keep(b"a", spoken(100_000))
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
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_a_disk_s_bound_is_kept(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2_000_000, HOUR)
    for number in range(100):
        disk.put(bytes([number]), spoken(50_000, number))
        assert taken(tmp_path) <= 2_000_000, "with its index and log, after each segment"
    assert disk.get(bytes([99])) is not None
    assert disk.get(bytes([0])) is None
    disk.close()


def test_a_bound_of_a_few_segments_keeps_a_few(tmp_path: Path) -> None:
    """Long segments go one or two at a time: a folder that is full isn't empty after the next one."""
    disk = DiskCache(tmp_path, 1_000_000, HOUR)
    for number in range(40):
        disk.put(bytes([number]), spoken(50_000, number))
        assert number < 5 or all(disk.get(bytes([late])) for late in range(number - 4, number + 1))
    disk.put(b"longer than the bound", spoken(2_000_000))
    assert disk.get(bytes([39])), "a segment that can't be kept has cost another its place"
    disk.close()
    assert taken(tmp_path) <= 1_000_000


def test_a_lower_bound_reduces_the_folder_of_an_earlier_start(tmp_path: Path) -> None:
    with closing(DiskCache(tmp_path, 2_000_000, HOUR)) as disk:
        for number in range(15):
            disk.put(bytes([number]), spoken(50_000, number))
    with closing(DiskCache(tmp_path, 500_000, HOUR)) as disk:
        assert disk.bytes <= 500_000


def test_a_shorter_lifetime_counts_for_what_an_earlier_start_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(DiskCache(tmp_path, 1_000_000, 24 * HOUR)) as disk:
        disk.put(b"a", spoken())
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
    assert all(same(segment, spoken(50_000, number)) for number, segment in found.items())
    assert len(found) > 20
    write_segments(tmp_path, 200)
    with closing(DiskCache(tmp_path, 4_000_000, HOUR)) as disk:
        assert disk.get(bytes([239]))


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        DiskCache(tmp_path / "file" / "cache", 1, HOUR)


@settings(database=None)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_segment_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        from_bytes(data)


def test_a_segment_comes_back_from_its_bytes() -> None:
    assert same(from_bytes(to_bytes(spoken())), spoken())


def test_whatever_changes_the_sound_changes_the_key() -> None:
    voice = (("af_heart", 1.0),)
    key = fingerprint(ENGINE, "a", "en-us", voice, 1.0)
    assert fingerprint(msgspec.structs.replace(ENGINE, provider="CUDA"), "a", "en-us", voice, 1.0) == key
    for change in (
        {"name": "espeak-ng"},
        {"model": "n"},
        {"model_sha256": "x"},
        {"voices_sha256": "w"},
        {"rendering": "whole"},
    ):
        assert fingerprint(msgspec.structs.replace(ENGINE, **change), "a", "en-us", voice, 1.0) != key
    others = [("b", "en-us", voice, 1.0), ("a", "en-gb", voice, 1.0), ("a", "en-us", voice, 1.1)]
    others.append(("a", "en-us", (("af_heart", 0.5), ("am_adam", 0.5)), 1.0))
    for other in others:
        assert fingerprint(ENGINE, *other) != key
