"""Segments for tests of the cache, and a writer of them, which other processes run without what pytest imports."""

from contextlib import closing
from pathlib import Path

import numpy as np

from frontend.streams.cache import CachedSegment, DiskCache

HOUR = 3600.0


def sound(samples: int = 1000, value: int = 7) -> CachedSegment:
    return CachedSegment(np.full(samples, value, np.int16), ((0, 10), (5, 900)))


def write_segments(folder: Path, first: int) -> None:
    """Store 40 segments, one after another, as a server does."""
    with closing(DiskCache(folder, 4_000_000, HOUR)) as disk:
        for number in range(first, first + 40):
            disk.put(bytes([number]), sound(50_000, number))
