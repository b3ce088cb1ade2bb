"""Whitebox: each named place of worker, front and shm code, killed there: what the listeners notice."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from shm.killpoint import VARIABLE
from tests.chaos.conftest import SPARE
from tests.chaos.evidence import SEED, check
from tests.chaos.kill_points import FLAGS, FRONT, WORKER, Victim
from tests.chaos.residue import Residue, comes_back_to, settled, warm_up
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server

LONG_TIMES = 100
LONG = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tmp_path_factory.mktemp("killpoints"))


@pytest.fixture(scope="module")
def killable(orders: Path) -> Iterator[Server]:
    """A server that takes some 20 ms for a sentence: its worker has work when the front dies."""
    miniature = (*miniature_arguments(orders, cost=1), *SPARE)
    with server(*miniature, *FLAGS, environment={VARIABLE: str(orders)}) as started:
        warm_up(started)
        yield started


@pytest.fixture(scope="module")
def before(killable: Server) -> Residue:
    """The machine's resources that the server holds before any kill, and again after each test."""
    return settled(killable)


def kills(places: Iterable[str]) -> list[object]:
    """Each place with a count of kills: every second one once in each run of the tests; the others once and all of them
    a hundred times in the slow ones."""
    once = [pytest.param(place, 1, marks=[pytest.mark.slow] if n % 2 else []) for n, place in enumerate(places)]
    return [*once, *(pytest.param(place, LONG_TIMES, marks=LONG) for place in places)]


@pytest.mark.parametrize(("place", "count"), kills(WORKER))
def test_a_worker_that_dies_there_is_not_heard(
    killable: Server, before: Residue, orders: Path, tmp_path: Path, place: str, count: int
) -> None:
    victim = Victim(killable, orders, "worker", place, WORKER[place])
    for _ in range(count):
        victim.hear_two()
    victim.hear_one()
    check(victim.histories, victim.kills, tmp_path, SEED)
    assert comes_back_to(before, killable) == before


@pytest.mark.parametrize(("place", "count"), kills(FRONT))
def test_a_front_that_dies_there_is_not_heard_and_refuses_nobody(
    killable: Server, before: Residue, orders: Path, tmp_path: Path, place: str, count: int
) -> None:
    worker = killable.child("worker[")
    victim = Victim(killable, orders, "front", place, FRONT[place])
    for _ in range(count):
        check(victim.hear_two(), victim.kills, tmp_path, SEED)
        check([victim.hear_one()], victim.kills, tmp_path, SEED)
    assert killable.child("worker[") == worker, "it keeps its model"
    assert comes_back_to(before, killable) == before
