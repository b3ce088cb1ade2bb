"""A writer killed while it sends: a pipe of its own costs nobody else a message, a shared queue does."""

import random
from pathlib import Path

import pytest

from benchmarks import queues
from benchmarks.queues import Pipes, SimpleQueue, cost, one_kill


@pytest.mark.parametrize("size", [300, 60_000])
def test_the_other_writer_is_heard_when_each_has_a_pipe(size: int) -> None:
    draw, open_before = random.Random(1), len(list(Path("/proc/self/fd").iterdir()))
    assert not any(one_kill(Pipes, size, draw) for _ in range(8))
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_a_killed_writer_takes_the_queues_lock_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "PATIENCE", 0.5)
    draw = random.Random(1)
    found = (one_kill(SimpleQueue, 60_000, draw) for _ in range(40))
    assert "the next writer waits for the dead one's lock" in found  # three of four kills


def test_a_round_trip_has_a_cost() -> None:
    found = cost(Pipes, 300, 50)
    assert 0 < found.median <= found.worst_hundredth
