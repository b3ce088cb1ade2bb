"""Servers without processes: what listeners hear of each is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from supervisor.tuning.candidates import Changes
from supervisor.tuning.listening import Figures
from supervisor.tuning.servers import ServerFailed
from supervisor.tuning.several_workers import Costs, Place

ONE = Figures(first=0.4, real_time=2.0, crowd=3, first_together=0.8, gapless=2, together=3.0)
"""Of one worker; several are the same but for what a test says."""


@dataclass
class FakeServers:
    """Several workers' figures by the number of the pair, from 1 on, as changes against `ONE`."""

    several: Callable[[int], Mapping[str, Any]] = lambda pair: {}
    memory: Mapping[int, int] = field(default_factory=lambda: {1: 100, 2: 130})
    cannot_start: Mapping[int, str] = field(default_factory=dict)
    """By number of workers."""
    crashes: Mapping[int, str] = field(default_factory=dict)
    """In the second pair."""
    asked: list[int] = field(default_factory=list)
    """Numbers of workers of the servers that spoke, in order."""
    started: list[tuple[Changes, Costs, int]] = field(default_factory=list)
    running: int = 0

    @contextmanager
    def __call__(self, changes: Changes, costs: Costs, workers: int) -> Iterator[FakeServer]:
        self.started.append((changes, costs, workers))
        if reason := self.cannot_start.get(workers):
            raise ServerFailed(reason)
        self.running += 1
        try:
            yield FakeServer(self, workers)
        finally:
            self.running -= 1

    def place(self, cores: int = 2, available: int = 10**11) -> Place:
        return Place(self, cores, lambda: available)


@dataclass
class FakeServer:
    servers: FakeServers
    workers: int
    pair: int = -1
    """0: nothing of it counts."""

    def measure(self) -> Figures:
        self.pair += 1
        self.servers.asked.append(self.workers)
        if self.pair == 2 and (reason := self.servers.crashes.get(self.workers)):
            raise ServerFailed(reason)
        return replace(ONE, **self.servers.several(self.pair)) if self.workers > 1 else ONE

    def memory(self) -> int:
        return self.servers.memory[self.workers]
