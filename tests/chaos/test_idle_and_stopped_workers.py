"""Workers killed while they have nothing to do, and workers that are stopped in the middle of their work."""

import random
from pathlib import Path

import pytest

from tests.chaos.evidence import SEED, check
from tests.chaos.listeners import Crowd, Heard, listen, some_text
from tests.chaos.loops import kill, stop_worker
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.server import DEADLINE, Server
from tests.system.shared import SharedServer


@pytest.fixture
def target(house: SharedServer) -> Server:
    started = house.calm()
    warm_up(started)
    return started


def test_the_next_job_starts_each_time_an_idle_worker_was_killed(target: Server, tmp_path: Path) -> None:
    before = settled(target)
    rng = random.Random(SEED)
    histories, kills = [], []
    for _ in range(2):
        kills.append(kill(target, "worker"))
        histories.append(listen(target, Heard(0, some_text(rng, longest=2), kills[-1].at)))
        check(histories, kills, tmp_path, SEED)
    assert comes_back_to(before, target) == before


def test_a_stopped_standby_keeps_nobody_waiting_for_long(target: Server, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    standby, start = target.child("standby"), len(target.log)
    standby.suspend()
    killed = kill(target, "worker")
    check([listen(target, Heard(0, some_text(rng, longest=2), killed.at))], [killed], tmp_path, SEED)
    target.logs(r"it hasn't taken its order within 3 s", start)
    standby.wait(DEADLINE)


@pytest.mark.parametrize("count", [1, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_a_stopped_worker_is_replaced_and_what_it_writes_later_is_not_read(
    target: Server, tmp_path: Path, count: int
) -> None:
    before = settled(target)
    rng = random.Random(SEED)
    crowd = Crowd(target, 4, SEED, texts=8)
    kills = []
    try:
        for number in range(count):
            assert crowd.wait_for(lambda: len(crowd.heard) > 8 * (number + 1)), "streams end"  # noqa: B023
            kills.append(stop_worker(target, rng))
    finally:
        histories = crowd.leave()
    check(histories, kills, tmp_path, SEED)
    assert comes_back_to(before, target) == before
