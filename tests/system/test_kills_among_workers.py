"""Two workers, either of which is killed at random, again and again, while four listen: every sample right, no cut."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.chaos.evidence import SEED, Kill, check, tally
from tests.chaos.listeners import Crowd
from tests.chaos.loops import LONGEST_PAUSE, two_segments
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server
from tests.system.test_several_workers import TWO, both

LISTENERS = 4
KILLS = 30

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
"""`test_several_workers` is the short form: it kills one of two, and both at once."""


def kill_one(of: Server, rng: random.Random) -> Kill:
    victim = rng.choice(of.children("worker["))
    os.kill(victim.pid, signal.SIGKILL)
    return Kill("worker", time.monotonic())


def left_behind(crowd: Crowd) -> bool:
    """Wait until every stream has heard so much since the kill, or ended, that no segment of it saw that: two deaths on
    one segment fail a stream by design. False if one never does."""
    struck = [(heard, heard.heard) for heard in crowd.latest()]
    return crowd.wait_for(lambda: all(heard.ended or heard.heard > then + two_segments() for heard, then in struck))


def test_no_listener_hears_either_worker_being_killed(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path, cost=1), *TWO, "--standby", "imported") as started:
        warm_up(both(started))
        before = settled(started)
        rng = random.Random(SEED)
        crowd = Crowd(started, LISTENERS, SEED, texts=8)
        kills: list[Kill] = []
        try:
            assert crowd.wait_until_each_hears()
            for _ in range(KILLS):
                time.sleep(rng.uniform(0, LONGEST_PAUSE))
                start = len(started.log)
                kills.append(kill_one(started, rng))
                started.logs(r"worker\[\d+\] is ready", start)
                assert left_behind(crowd), f"somebody waits for ever after {kills[-1]}"
        finally:
            histories = crowd.leave()
        check(histories, kills, tmp_path, SEED)
        assert len(kills) == KILLS
        assert tally(histories)["complete"] >= LISTENERS
        assert comes_back_to(before, started) == before
        assert started.get("/status")[1]["restarts"]["worker"] == KILLS
