"""Segments on a disk, for another day: bounded in bytes and in age. Whatever is wrong with the disk is a miss."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import diskcache

from frontend.streams.cache.entry import CachedSegment, from_bytes, to_bytes

log = logging.getLogger(__name__)


class DiskCache:
    """A folder. May be shared by servers. Blocking: to be called in a thread."""

    def __init__(self, folder: Path, max_bytes: int, ttl: float) -> None:
        """Args:
        max_bytes: a bound that is kept by giving up the least recently used.
        ttl: seconds after which a segment is made again.

        Raises:
            OSError: the folder can't be made or written to.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._ttl = ttl
        try:
            self._cache = diskcache.Cache(
                str(folder), size_limit=max_bytes, eviction_policy="least-recently-used", disk=_RawDisk
            )
        except (sqlite3.Error, diskcache.Timeout) as error:
            raise OSError(f"the cache folder {folder} can't be used: {error}") from error

    def get(self, key: bytes) -> CachedSegment | None:
        try:
            data = self._cache.get(key)
            if data is None:
                return None
            return from_bytes(data)
        except (OSError, sqlite3.Error, diskcache.Timeout, ValueError) as error:
            log.warning("the disk cache gave nothing: %s", error)
            return None

    def put(self, key: bytes, segment: CachedSegment) -> None:
        try:
            self._cache.set(key, to_bytes(segment), expire=self._ttl)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            log.warning("the disk cache took nothing: %s", error)

    @property
    def bytes(self) -> int:
        """On the disk, its index included."""
        return int(self._cache.volume())

    def close(self) -> None:
        self._cache.close()


class _RawDisk(diskcache.Disk):  # type: ignore[misc]
    """Bytes only: nothing in the folder is ever unpickled."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("an entry that isn't bytes")
        return super().fetch(mode, filename, value, read)
