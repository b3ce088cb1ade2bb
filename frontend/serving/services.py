"""The services that all requests and contexts share: the speaker, encoders, counts, and the memory of bodies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from frontend.audio.encoding import Encoders
from frontend.contract.errors import Unavailable
from frontend.contract.in_flight import InFlight
from frontend.contract.speaker import Speaker, engine_in_use
from frontend.monitoring.metrics import Metrics
from frontend.monitoring.readings import Callers, OpenSockets
from frontend.settings.front import FrontSettings
from shm.engine_info import EngineInfo

_SOON = 1.0
"""Seconds after which a client that found no room should try again: most bodies arrive at once."""


class BodyMemory:
    """Counts the bytes that the bodies being read have announced. One per front."""

    def __init__(self, most: int) -> None:
        """`most`: bytes that all bodies together may have."""
        self._most = most
        self._announced = 0

    @contextmanager
    def reading(self, length: int) -> Iterator[None]:
        """A block in which a body of `length` bytes is read.

        Raises:
            Unavailable: the bodies that are being read leave no room for this one.
        """
        if self._announced + length > self._most:
            raise Unavailable("too many long requests are being read already", _SOON)
        self._announced += length
        try:
            yield
        finally:
            self._announced -= length


@dataclass(frozen=True, slots=True)
class Services:
    speaker: Speaker
    settings: FrontSettings
    metrics: Metrics
    encoders: Encoders = field(default_factory=Encoders)
    in_flight: InFlight = field(default_factory=InFlight)
    open: OpenSockets = field(default_factory=OpenSockets)
    callers: Callers = field(default_factory=Callers)
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


def engine_asked(request: web.Request) -> EngineInfo:
    """The engine that a request's application speaks with.

    Raises:
        Unavailable: none speaks.
    """
    return engine_in_use(request.app[SERVICES].speaker)
