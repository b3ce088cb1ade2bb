"""The state that all parts of the scheduler share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from frontend.monitoring.metrics import Metrics
from frontend.planning.ledger import Ledger
from frontend.scheduling.quarantine import Quarantine
from frontend.settings.front import FrontSettings
from frontend.streams.cache.segments import SegmentCache
from frontend.streams.links import Links
from frontend.streams.stream import Stream
from shm.messages import ControlMessage


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
