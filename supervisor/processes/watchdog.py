"""Feeds the service manager's watchdog, as long as the supervisor's loop turns and the front answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from supervisor.processes.timers import Timers


class Asks(Protocol):
    """The part of `supervisor.processes.probe.Probe` that the feed needs."""

    def ask(self, answered: Callable[[], None]) -> None: ...


class WatchdogFeed:
    """Asks the front at half the manager's limit, and passes each answer on.

    The manager kills and restarts a server whose front hangs; its own supervisor sees only processes that end.
    """

    def __init__(self, limit: float, timers: Timers, probe: Asks, feed: Callable[[], None]) -> None:
        """`limit`: seconds that the manager waits for a sign of life."""
        self._interval = limit / 2
        self._timers = timers
        self._probe = probe
        self._feed = feed
        self._front_accepts = True

    def start(self) -> None:
        """Start feeding: the manager's limit counts from now on."""
        self._due()

    def draining(self) -> None:
        """Stop asking the front, which accepts no more requests: the drain timeout bounds the rest, so a turning loop
        suffices."""
        self._front_accepts = False

    def _due(self) -> None:
        self._timers.after(self._interval, self._due)
        if self._front_accepts:
            self._probe.ask(self._feed)
        else:
            self._feed()
