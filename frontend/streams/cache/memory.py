"""Segments in memory, the least recently used given up first."""

from __future__ import annotations

from collections import OrderedDict

from frontend.streams.cache.entry import CachedSegment


class MemoryCache:
    """At most `max_bytes` of them; a segment that is larger by itself isn't kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._segments: OrderedDict[bytes, CachedSegment] = OrderedDict()
        self.bytes = 0

    def get(self, key: bytes) -> CachedSegment | None:
        found = self._segments.get(key)
        if found is not None:
            self._segments.move_to_end(key)
        return found

    def put(self, key: bytes, segment: CachedSegment) -> None:
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
