"""The part of the segment cache in memory; the least recently used segment is dropped first."""

from __future__ import annotations

from collections import OrderedDict

from frontend.streams.cache.entry import CachedSegment


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
