"""A way to divide the cores is chosen for a gain that every round shows, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from supervisor.tuning.comparison import ROUNDS, CannotMeasure, ComparisonResult, compare, ways
from supervisor.tuning.profile import Way
from worker.settings import WorkerSettings
from worker.tuning.messages import Round

ONE, OTHER = Way(threads=1, concurrency=8), Way(threads=4, concurrency=2)

Measurements = list[Round | str]
"""One for each round; a text: it fails so."""


class Machine:
    """Engines by their threads; the default has 0. Each needs one more measurement, to load."""

    def __init__(self, **engines: Measurements) -> None:
        self.engines = {int(name.strip("t")): rounds for name, rounds in engines.items()}
        self.loaded: set[int] = set()
        self.order: list[int] = []

    @contextmanager
    def __call__(self, settings: WorkerSettings) -> Iterator[Engine]:
        threads = settings.threads
        assert threads not in self.loaded
        self.loaded.add(threads)
        try:
            yield Engine(self, threads, iter(self.engines[threads]))
        finally:
            self.loaded.remove(threads)


class Engine:
    def __init__(self, machine: Machine, threads: int, rounds: Iterator[Round | str]) -> None:
        self.machine, self.threads, self.rounds = machine, threads, rounds
        self.loads = True

    def measure(self) -> Round:
        self.machine.order.append(self.threads)
        if self.loads:
            self.loads = False
            return Round(9.0, 0.1, 0.1)
        result = next(self.rounds)
        if isinstance(result, str):
            raise CannotMeasure(result)
        return result


def alike(first: float = 1.0, alone: float = 1.0, together: float = 1.0) -> Measurements:
    return [Round(first, alone, together)] * ROUNDS * 2


def found(machine: Machine, *tried: Way) -> ComparisonResult:
    return compare(machine, WorkerSettings(), tried or (ONE,), lambda step: None)


@pytest.mark.parametrize(
    ("measured", "chosen", "note"),
    [
        (alike(first=0.5), True, ""),
        (alike(together=1.2), True, ""),
        (alike(first=0.97, together=1.03), False, "gains less than 5%"),
        (alike(first=0.5, together=0.9), False, "worse: throughput 0.90"),
        (alike(first=2.0, together=2.0), False, "worse: first audio 0.50"),
        (alike(first=0.5, alone=0.5), False, "worse: one at a time 0.50"),
        ([Round(0.5, 1, 1)] * (ROUNDS - 1) + [Round(1.1, 1, 1)], False, "not better in every round"),
    ],
)
def test_a_way_is_chosen_for_a_gain_without_a_loss(measured: Measurements, chosen: bool, note: str) -> None:
    result = found(Machine(t0=alike(), t1=measured))
    assert (result.chosen, result.attempts[0].note) == (ONE if chosen else None, note)
    assert ("defaults stay" in result.verdict) is not chosen


def test_the_best_of_several_is_chosen() -> None:
    result = found(Machine(t0=alike(), t1=alike(first=0.8), t4=alike(first=0.5, together=1.1)), ONE, OTHER)
    assert result.chosen == OTHER and [each.way for each in result.attempts] == [ONE, OTHER]
    assert "first audio 2.00, speed 1.10" in result.verdict


def test_both_speak_in_turn_and_take_turns_in_being_first() -> None:
    """A machine that becomes busier in the middle slows both alike."""
    machine = Machine(t0=alike(), t1=alike())
    found(machine)
    assert machine.order[:6] == [0, 1, 0, 1, 1, 0] and not machine.loaded


def test_a_way_that_fails_is_passed_over_and_told_of() -> None:
    machine = Machine(t0=alike(), t1=["its process ended with SIGSEGV"], t4=alike(first=0.5))
    result = found(machine, ONE, OTHER)
    assert result.chosen == OTHER and result.attempts[0].note == "its process ended with SIGSEGV"


def test_a_default_that_fails_is_no_fault_of_the_way_that_is_measured() -> None:
    with pytest.raises(CannotMeasure, match="no memory"):
        found(Machine(t0=["no memory"], t1=alike()))


def test_ways_divide_all_cores() -> None:
    assert ways(1) == []
    assert [(way.threads, way.concurrency) for way in ways(2)] == [(1, 2), (2, 1)]
    assert [(way.threads, way.concurrency) for way in ways(6)] == [(1, 6), (2, 3), (4, 1), (6, 1)]
    assert [(way.threads, way.concurrency) for way in ways(8)] == [(1, 8), (2, 4), (4, 2), (8, 1)]
