"""Whitebox: each named place of worker, front and shm code, killed there: what the listeners notice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from shm.killpoint import VARIABLE
from tests.chaos.evidence import SEED, Kill, check
from tests.chaos.listeners import Heard, listen, some_text
from tests.chaos.loops import UNLIMITED
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.server import Server, server

WORKER = {
    "order-read": 3,
    "release-read": 3,
    "forget-read": 1,
    "before-block": 3,
    "block-made": 3,
    "ring-half": 3,
    "written": 3,
    "committed": 3,
    "before-done": 3,
    "frame-half": 8,
}
"""Each place, and at which of its passages within a stream the kill may come."""

FRONT = {
    "parsed": 1,
    "dispatched": 3,
    "frame-half": 3,
    "before-seal": 3,
    "sealed": 3,
    "before-headers": 1,
    "after-headers": 1,
    "chunk": 10,
    "released": 3,
}

TIMES = 5
LONG_TIMES = 100


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tmp_path_factory.mktemp("killpoints"))


@pytest.fixture(scope="module")
def killable(orders: Path, miniature: tuple[str, ...]) -> Iterator[Server]:
    """A server with rings so short that blocks wrap and wait for room."""
    with server(*miniature, *UNLIMITED, "--ring-seconds", "2", environment={VARIABLE: str(orders)}) as started:
        warm_up(started)
        yield started


class Victim:
    """Streams against a server, in each of which a process is killed at one place."""

    def __init__(self, to: Server, orders: Path, role: str, place: str, passages: int) -> None:
        self.to = to
        self.order = orders / f"{role}.{place}"
        self.rng = random.Random(f"{SEED} {role} {place}")
        self.passages = passages
        self.histories: list[Heard] = []
        self.kills: list[Kill] = []

    def hear_two(self) -> list[Heard]:
        """Two streams at once, the order to kill being given before."""
        self.order.write_text(str(self.rng.randint(1, self.passages)))
        heard = [Heard(number, some_text(self.rng, least=5), 0.0) for number in range(2)]
        threads = [threading.Thread(target=listen, args=(self.to, one)) for one in heard]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.histories += heard
        assert not self.order.exists(), f"{self.order.name} was not reached"
        self.kills.append(Kill(self.order.name, heard[0].ended))
        return heard

    def hear_one(self) -> Heard:
        """A stream that nothing is to happen to."""
        heard = listen(self.to, Heard(2, some_text(self.rng), 0.0))
        self.histories.append(heard)
        return heard


def times(count: int) -> list[object]:
    return [count, pytest.param(LONG_TIMES, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]


@pytest.mark.parametrize("count", times(TIMES))
@pytest.mark.parametrize("place", WORKER)
def test_a_worker_that_dies_there_is_not_heard(
    killable: Server, orders: Path, tmp_path: Path, place: str, count: int
) -> None:
    before = settled(killable)
    victim = Victim(killable, orders, "worker", place, WORKER[place])
    for _ in range(count):
        victim.hear_two()
    victim.hear_one()
    check(victim.histories, victim.kills, tmp_path, SEED)
    assert comes_back_to(before, killable) == before


@pytest.mark.parametrize("count", times(TIMES))
@pytest.mark.parametrize("place", FRONT)
def test_a_front_that_dies_there_cuts_visibly_and_refuses_nobody(
    killable: Server, orders: Path, tmp_path: Path, place: str, count: int
) -> None:
    before = settled(killable)
    worker = killable.child("worker[")
    victim = Victim(killable, orders, "front", place, FRONT[place])
    for _ in range(count):
        struck = victim.hear_two()
        check(struck, victim.kills, tmp_path, SEED, allowed=("complete", "cut"))
        assert any(heard.visibly_cut for heard in struck), "somebody was being answered"
        check([victim.hear_one()], victim.kills, tmp_path, SEED)
    assert killable.child("worker[") == worker, "it keeps its model"
    assert comes_back_to(before, killable) == before
