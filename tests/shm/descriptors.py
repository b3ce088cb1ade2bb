"""Counts the descriptors that this process has open."""

from __future__ import annotations

import gc
from pathlib import Path


def open_descriptors() -> int:
    gc.collect()  # or what an earlier test left to the collector could vanish between two counts
    gc.freeze()  # the next collection looks at later objects only: this one has seen thousands of tests
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
