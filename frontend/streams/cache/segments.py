"""The segment cache: finished segments are stored in memory, and on disk if a folder is given, for later requests."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor

from frontend.streams.cache.disk import DiskCache
from frontend.streams.cache.entry import CachedSegment

# The part of the segment cache in memory; the least recently used segment is dropped first.


class MemoryCache:
    """Holds at most `max_bytes` of segments; a segment larger than that isn't stored."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._segments: OrderedDict[bytes, CachedSegment] = OrderedDict()
        self.bytes = 0

    def get(self, key: bytes) -> CachedSegment | None:
        """The segment, marked as just used; None if the cache lacks it."""
        found = self._segments.get(key)
        if found is not None:
            self._segments.move_to_end(key)
        return found

    def put(self, key: bytes, segment: CachedSegment) -> None:
        """Store the segment, and drop others until the bound holds."""
        if old := self._segments.pop(key, None):
            self.bytes -= old.size
        if segment.size > self._max_bytes:
            return
        self._segments[key] = segment
        self.bytes += segment.size
        while self.bytes > self._max_bytes:
            _, dropped = self._segments.popitem(last=False)
            self.bytes -= dropped.size

    def __len__(self) -> int:
        return len(self._segments)


MAX_UNWRITTEN = 64
"""Segments that may wait for a slow disk; further ones are stored in memory only."""


class SegmentCache:
    """Segments by `frontend.scheduling.planned_segment`: a sentence that occurs again in another text is found."""

    def __init__(self, max_bytes: int, disk: DiskCache | None = None) -> None:
        """Args:
        max_bytes: the bound on the part in memory; 0 keeps nothing there.
        """
        self._memory = MemoryCache(max_bytes)
        self._disk = disk
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache") if disk else None
        self._unwritten = 0
        self.hits = 0
        self.misses = 0

    async def find(self, key: bytes, *, marks: bool = False) -> CachedSegment | None:
        """The segment if it was spoken before. If `marks` are wanted, a segment without marks counts as absent."""
        found = self._memory.get(key)
        if found is None and self._disk and self._thread:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._disk.get, key)
            if found is not None:
                self._memory.put(key, found)
        if found is not None and marks and not found.marks:
            found = None
        self.hits += found is not None
        self.misses += found is None
        return found

    def keep(self, key: bytes, segment: CachedSegment) -> None:
        """Store a segment that was made whole."""
        self._memory.put(key, segment)
        if self._disk and self._thread and self._unwritten < MAX_UNWRITTEN:
            self._unwritten += 1
            self._thread.submit(self._disk.put, key, segment).add_done_callback(self._written)

    def _written(self, _: Future[None]) -> None:
        self._unwritten -= 1

    @property
    def bytes(self) -> int:
        """Bytes of the part in memory."""
        return self._memory.bytes

    @property
    def segments(self) -> int:
        """Number of segments in memory."""
        return len(self._memory)

    def close(self) -> None:
        """Wait until the disk has stored all segments given to it, and close it."""
        if self._disk and self._thread:
            self._thread.shutdown()
            self._disk.close()
