"""The part of the segment cache on a disk, bounded in bytes and in age. Any failure of the disk counts as a miss."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path
from typing import Any

import diskcache

from frontend.streams.cache.entry import CachedSegment, from_bytes, to_bytes

log = logging.getLogger(__name__)


_LOG_PAGES = 64
_LOG_BYTES = _LOG_PAGES * 4096 + 64 * 1024
"""Bytes of SQLite's write-ahead log and its index, which `volume` doesn't count."""


class DiskCache:
    """A folder that several servers may share. Its methods block: call them in a thread."""

    def __init__(self, folder: Path, max_bytes: int, ttl: float) -> None:
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
        """The segment; None if it isn't there or can't be read."""
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

    def _too_old(self, stored_at: float | None) -> bool:
        """True if the entry is older than this server's `ttl`: the entry's own expiry is that of the server which
        stored it. Entries of older versions have no time, and count as new."""
        return stored_at is not None and time.time() - stored_at > self._ttl

    @property
    def bytes(self) -> int:
        """Bytes that the cache takes on the disk, its index included."""
        return int(self._cache.volume())

    def close(self) -> None:
        """Close the folder's index."""
        self._cache.close()


class _RawDisk(diskcache.Disk):  # type: ignore[misc]
    """Storage of plain bytes: nothing in the folder is ever unpickled, because any program may have written it."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("an entry that isn't bytes")
        return super().fetch(mode, filename, value, read)
