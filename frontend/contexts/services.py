"""The services that all requests and contexts share, and the count of open contexts and of their sockets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from frontend.audio.encoding import Encoders
from frontend.contract.body_memory import BodyMemory
from frontend.contract.in_flight import InFlight
from frontend.contract.speaker import Speaker
from frontend.monitoring.metrics import Metrics
from frontend.monitoring.readings import OpenSockets
from frontend.settings.front import FrontSettings


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one front."""

    speaker: Speaker
    settings: FrontSettings
    metrics: Metrics
    encoders: Encoders = field(default_factory=Encoders)
    in_flight: InFlight = field(default_factory=InFlight)
    open: OpenSockets = field(default_factory=OpenSockets)
    bodies: BodyMemory = field(init=False)

    def __post_init__(self) -> None:
        most = max(self.settings.max_bodies_bytes, self.settings.max_body_bytes)
        object.__setattr__(self, "bodies", BodyMemory(most))

    @contextmanager
    def socket(self, protocol: str) -> Iterator[None]:
        """Count a client's connection of that protocol as open."""
        self.open.sockets[protocol] += 1
        try:
            yield
        finally:
            self.open.sockets[protocol] -= 1


SERVICES: web.AppKey[Services] = web.AppKey("SERVICES", Services)
