"""Listeners who come within a few seconds of one another, in simulated time: who hears gaps, and who waits."""

import random
from itertools import accumulate

import pytest

from tests.worker.simulated_machine import (
    CONTEXT,
    FRAME,
    PROCESSORS,
    PROSODY,
    READING,
    SHAPE,
    TWO_THREADS,
    Listener,
    Machine,
)

CROWDS = {
    "one by one": (0.0, 1.13, 2.2, 3.98),
    "three soon after the first": (0.0, 0.85, 1.25, 1.33),
    "nearly together": (0.0, 0.12, 0.35, 0.43),
    "together, and one more": (0.0, 0.05, 0.05, 0.91),
}
"""Seconds at which each listener comes."""


def crowd(patch: pytest.MonkeyPatch, arrivals: tuple[float, ...], seed: int = 0) -> list[Listener]:
    """The listeners at the end, each of whom has heard fifteen seconds in segments of sentences' lengths."""
    rng = random.Random(seed)
    listeners = [Listener(at, [rng.uniform(3.5, 7.5) for _ in range(3)]) for at in arrivals]
    Machine(patch, listeners).run()
    return listeners


def waits(listeners: list[Listener]) -> list[float]:
    return [each.first - each.arrival for each in listeners if each.first is not None]


@pytest.mark.parametrize("arrivals", CROWDS.values(), ids=CROWDS.keys())
@pytest.mark.parametrize("seed", range(5))
def test_four_listeners_whom_the_machine_can_serve_hear_no_gap(
    monkeypatch: pytest.MonkeyPatch, arrivals: tuple[float, ...], seed: int
) -> None:
    """The engine makes 5.25 times real time: so four are served, however close together they come."""
    listeners = crowd(monkeypatch, arrivals, seed)
    assert [listener.gaps for listener in listeners] == [[]] * 4
    assert max(waits(listeners)) < 1.0


def test_no_one_of_thirty_random_crowds_hears_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come as the listeners of `benchmarks.streams` do: a second apart on average."""
    rng = random.Random(0)
    for seed in range(30):
        arrivals = accumulate((rng.expovariate(1.0) for _ in range(3)), initial=0.0)
        with monkeypatch.context() as patch:
            assert [listener.gaps for listener in crowd(patch, tuple(arrivals), seed)] == [[]] * 4


def test_a_listener_who_is_alone_waits_no_longer_than_a_first_block_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    [alone] = crowd(monkeypatch, (0.0,))
    window = (SHAPE.first + CONTEXT) * FRAME * TWO_THREADS
    assert waits([alone]) == [pytest.approx(READING + (PROSODY * alone.segments[0] + window) / PROCESSORS, rel=0.01)]
