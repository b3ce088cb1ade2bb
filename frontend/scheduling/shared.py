"""The state that all parts of the scheduler share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from frontend.monitoring.metrics import Metrics
from frontend.planning.costs import Ledger
from frontend.settings.front import FrontSettings
from frontend.streams.cache import SegmentCache
from frontend.streams.links import Links
from frontend.streams.stream import Stream
from shm.messages import ControlMessage


class Quarantine:
    """A set of fingerprints, each kept for `lifetime` seconds, since the engine may have been repaired by then."""

    def __init__(self, lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._until: dict[bytes, float] = {}

    def add(self, key: bytes) -> None:
        self._until = {key: until for key, until in self._until.items() if until > self._clock()}
        self._until[key] = self._clock() + self._lifetime

    def __contains__(self, key: bytes) -> bool:
        return self._until.get(key, -math.inf) > self._clock()

    def __len__(self) -> int:
        return sum(key in self for key in self._until)


@dataclass(eq=False)
class Shared:
    """The shared state; one per front."""

    settings: FrontSettings
    ledger: Ledger
    quarantine: Quarantine
    cache: SegmentCache
    metrics: Metrics
    tell: Callable[[ControlMessage], None]
    """Function that sends a control message to the supervisor."""
    streams: dict[int, Stream] = field(default_factory=dict)
    """The open streams, by number."""
    links: Links = field(default_factory=Links)
    """The worker generations that are connected."""
