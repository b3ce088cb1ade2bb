"""The scheduler's state at one moment, for `/status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontend.planning.costs import Account
from frontend.streams.cache import SegmentCache
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.situation import Situation


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The scheduler's state at one moment."""

    engine: EngineInfo | None
    reason: str
    """The reason why no engine can speak; empty when one can."""
    situation: Situation
    streams: Sequence[Stream]
    queue_depth: int
    quarantined: int
    """Number of quarantined segments."""
    costs: Mapping[str, Account]
    """Cost accounts by engine."""
    cache: SegmentCache
