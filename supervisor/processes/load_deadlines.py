"""Workers that load, each until it has, is gone, or has taken too long."""

from __future__ import annotations

from collections.abc import Callable

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.timers import Timers


class LoadDeadlines:
    """An execution provider may compile for ever, if it finds nothing of what it compiled before."""

    def __init__(self, limit: float, timers: Timers, overdue: Callable[[Incarnation, str], None]) -> None:
        """`overdue` is called with a worker that hasn't loaded within `limit` seconds, and the execution provider
        that it loads for; empty if that isn't known."""
        self._limit = limit
        self._timers = timers
        self._overdue = overdue
        self._providers: dict[int, str] = {}
        """By generation of those that load."""

    def begin(self, child: Incarnation) -> None:
        """The child was told to load, unless it has or was before."""
        if child.ready is None and child.generation not in self._providers:
            self._providers[child.generation] = ""
            self._timers.after(self._limit, lambda: self._look_at(child))

    def loading(self, child: Incarnation, provider: str) -> None:
        """The child has begun to load for that execution provider."""
        if child.generation in self._providers:
            self._providers[child.generation] = provider

    def end(self, child: Incarnation) -> str:
        """The child has loaded, or is gone; the provider that it loaded for, empty if it didn't load."""
        return self._providers.pop(child.generation, "")

    def _look_at(self, child: Incarnation) -> None:
        if child.generation in self._providers:
            self._overdue(child, self.end(child))
