"""The segment cache: finished segments are stored in memory, and on disk if a folder is given, for later requests.

The memory outlives the front (`shm/sounds.py`). A text's own sounds are there too: its unfinished segments, and those
that nobody else may have.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import sqlite3
import time
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diskcache
import msgspec
import numpy as np

from shm import kept
from shm.audio import Pcm
from shm.decoding import msgpack_decoder
from shm.sounds import Sound, Sounds, memory_bytes
from shm.timing import Mark

log = logging.getLogger(__name__)

_LOG_PAGES = 64
_LOG_BYTES = _LOG_PAGES * 4096 + 64 * 1024
"""Bytes of SQLite's write-ahead log and its index, which `volume` doesn't count."""


class DiskCache:
    """A folder that several servers may share. Its methods block: call them in a thread."""

    def __init__(self, folder: Path, max_bytes: int, ttl: float = 30 * 86_400.0) -> None:
        """Args:
        max_bytes: the bound on the folder; the least recently used segments are dropped to keep it. A folder of an
            earlier start that holds more is reduced here.
        ttl: seconds after which a segment is made again, whatever this was when it was stored.

        Raises:
            OSError: the folder can't be made or written to.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._ttl = ttl
        # A small folder has a small log; the log of one that holds less than a few segments would take all of it.
        self._limit = max_bytes - min(_LOG_BYTES, max_bytes // 4)
        try:
            self._cache = diskcache.Cache(
                str(folder),
                size_limit=self._limit,
                eviction_policy="least-recently-used",
                # diskcache's default of 10 would remove ten long segments at a time, which empties a small folder again
                # and again.
                cull_limit=2,
                sqlite_wal_autocheckpoint=_LOG_PAGES,
                disk=_RawDisk,
            )
            self._cache.cull()
        except (sqlite3.Error, diskcache.Timeout) as error:
            raise OSError(f"the cache folder {folder} can't be used: {error}") from error

    def get(self, key: bytes) -> CachedSegment | None:
        try:
            data, stored_at = self._cache.get(key, tag=True)
            if data is None or self._too_old(stored_at):
                return None
            return from_bytes(data)
        except (OSError, sqlite3.Error, diskcache.Timeout, ValueError) as error:
            log.warning("the disk cache gave nothing: %s", error)
            return None

    def put(self, key: bytes, segment: CachedSegment) -> None:
        """Store the segment if the disk has room for it."""
        try:
            data = to_bytes(segment)
            if len(data) > self._limit:
                return
            # So that there is room for another one like this: storing removes the two least recently used segments.
            self._cache.reset("size_limit", self._limit - len(data), update=False)
            self._cache.set(key, data, expire=self._ttl, tag=time.time())
            self._cache.reset("size_limit", self._limit, update=False)
            if self.bytes > self._limit:
                self._cache.cull()
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            log.warning("the disk cache took nothing: %s", error)

    def clear(self) -> None:
        """Forget all segments, also those of a server that has the folder open.

        Raises:
            OSError: the folder can't be written.
        """
        try:
            self._cache.clear(retry=True)
        except (sqlite3.Error, diskcache.Timeout) as error:
            raise OSError(f"the disk cache can't be cleared: {error}") from error

    def _too_old(self, stored_at: float | None) -> bool:
        """True if the entry is older than this server's `ttl`: the entry's own expiry is that of the server which
        stored it. Entries of older versions have no time, and count as new."""
        return stored_at is not None and time.time() - stored_at > self._ttl

    @property
    def bytes(self) -> int:
        """Bytes that the cache takes on the disk, its index included."""
        return int(self._cache.volume())

    def close(self) -> None:
        self._cache.close()


class _RawDisk(diskcache.Disk):  # type: ignore[misc]
    """Storage of plain bytes: nothing in the folder is ever unpickled, because any program may have written it."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("an entry that isn't bytes")
        return super().fetch(mode, filename, value, read)


@dataclass(frozen=True, slots=True)
class CachedSegment:
    """A segment's samples (shape [n]) and, if requested, the marks: the times at which parts of its script sound."""

    samples: Pcm
    marks: tuple[Mark, ...] = ()
    whole: bool = True
    """False for the beginning of a segment that was being made when its front was killed."""


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    crc32: int
    pcm: bytes
    marks: tuple[Mark, ...]
    version: int = 1


_decode = msgpack_decoder(_Stored)


def to_bytes(segment: CachedSegment) -> bytes:
    """The segment as a record for a disk, with a CRC of its samples."""
    pcm = segment.samples.tobytes()
    return msgspec.msgpack.encode(_Stored(zlib.crc32(pcm), pcm, segment.marks, kept.SEGMENT.version))


def from_bytes(data: bytes) -> CachedSegment:
    """The inverse of `to_bytes`.

    Raises:
        ValueError: the bytes differ from the written ones.
    """
    try:
        stored = _decode(data)
        kept.SEGMENT.check(stored.version)
    except msgspec.DecodeError as error:
        raise ValueError(f"no cached segment: {error}") from error
    if zlib.crc32(stored.pcm) != stored.crc32 or len(stored.pcm) % 2:
        raise ValueError("a cached segment whose checksum is wrong")
    return CachedSegment(np.frombuffer(stored.pcm, np.int16), stored.marks)


MAX_UNWRITTEN = 64
"""Segments that may wait for a slow disk; further ones are stored in memory only."""

OWN_BYTES = 32 << 20
"""Memory beyond the cache's, for unfinished segments, and for those that aren't cached until their text is whole: 11
minutes of speech."""

UNCLAIMED = 60.0
"""Seconds for which a killed front's texts may be continued; then their own sounds are dropped."""


class SegmentCache:
    """Segments by `frontend.scheduling.dispatcher`: a sentence that occurs again in another text is found."""

    def __init__(self, max_bytes: int, disk: DiskCache | None = None) -> None:
        """Args:
        max_bytes: the bound on the part in memory; 0 keeps nothing there.
        """
        self._max_bytes = max_bytes
        self.sounds = Sounds(mmap.mmap(-1, memory_bytes(max_bytes + OWN_BYTES)), max_bytes)
        self.sounds.take_over()
        self._disk = disk
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")
        """The disk's; it is started by the first call of it."""
        self._unwritten = 0
        self.hits = 0
        self.misses = 0

    def share(self, memory: int) -> None:
        """Use a memory that fronts share, from now on. `memory`: its descriptor."""
        try:
            self.sounds = Sounds.of(memory, self._max_bytes, OWN_BYTES)
        except OSError as error:
            log.error("what is made is lost if this front is killed: %s", error)

    def take_over(self) -> None:
        """Begin to keep what is made, and learn what the front before has left. What nobody continues is dropped."""
        self.sounds.take_over()
        asyncio.get_running_loop().call_later(UNCLAIMED, self._drop_unclaimed)

    def _drop_unclaimed(self) -> None:
        for key in self.sounds.strangers:
            self.sounds.drop_key(key)

    async def find(self, key: bytes, *, marks: bool = False) -> CachedSegment | None:
        """The segment if it was spoken before. If `marks` are wanted, a segment without marks counts as absent."""
        found = self._in_memory(key)
        if found is None and self._disk:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._disk.get, key)
            if found is not None:
                self._keep_in_memory(key, found)
        if found and marks and not found.marks:
            found = None
        self.hits += found is not None
        self.misses += found is None
        return found

    def keep(self, key: bytes, segment: CachedSegment) -> None:
        self._keep_in_memory(key, segment)
        self._keep_on_disk(key, segment)

    def _in_memory(self, key: bytes) -> CachedSegment | None:
        found = self.sounds.get(key)
        return CachedSegment(found[0], found[1]) if found else None

    def _keep_in_memory(self, key: bytes, segment: CachedSegment) -> None:
        if sound := self.sounds.begin(b"whole " + key):
            self.sounds.append(sound, segment.samples)
            if segment.marks:
                self.sounds.mark(sound, segment.marks)
            self.sounds.finish(sound, key)
            if sound.row.own:
                self.sounds.drop(sound)

    def _keep_on_disk(self, key: bytes, segment: CachedSegment) -> None:
        if self._disk and self._unwritten < MAX_UNWRITTEN:
            self._unwritten += 1
            self._thread.submit(self._disk.put, key, segment).add_done_callback(self._written)

    def finish(self, key: bytes, sound: Sound) -> None:
        """Keep a text's own sound, which is whole, for anybody."""
        found = self._in_memory(sound.row.key) if self._disk else None
        self.sounds.finish(sound, key)
        if found:
            self._keep_on_disk(key, found)

    def _written(self, _: Future[None]) -> None:
        self._unwritten -= 1

    @property
    def bytes(self) -> int:
        return self.sounds.bytes

    @property
    def segments(self) -> int:
        return len(self.sounds)

    def store_rest(self) -> None:
        """Wait until the disk has stored all segments given to it, and close it."""
        if self._disk:
            self._thread.shutdown()
            self._disk.close()
