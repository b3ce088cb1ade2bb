"""Blackbox: kills in quick succession, whenever they strike, of a server with default settings and eight listeners."""

import time
from pathlib import Path

import psutil
import pytest

from tests.chaos.evidence import SEED, Kill, check
from tests.chaos.listeners import Crowd
from tests.chaos.loops import kill
from tests.system.server import Server
from tests.system.shared import SharedServer

LISTENERS = 8


@pytest.fixture
def started(house: SharedServer) -> Server:
    return house.calm()


@pytest.mark.parametrize("role", ["worker", "front"])
def test_a_process_that_has_worked_is_started_again_at_once_each_time(started: Server, role: str) -> None:
    for _ in range(2):
        started.hear(input="It works.", response_format="pcm")
        start = len(started.log)
        kill(started, role)
        assert started.logs(rf"the {role} died .*again in (\S+) s", start)[1] == "0"


@pytest.mark.parametrize(
    ("role", "kills", "seconds", "allowed"),
    [
        pytest.param("worker", 6, 3.0, ("complete",), marks=pytest.mark.timeout(300)),
        pytest.param("worker", 20, 10.0, ("complete",), marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
        pytest.param("front", 6, 3.0, ("complete", "cut"), marks=pytest.mark.timeout(300)),
        pytest.param("front", 6, 12.0, ("complete", "cut"), marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
    ],
)
def test_no_connection_is_refused_and_no_sample_lost(
    started: Server, tmp_path: Path, role: str, kills: int, seconds: float, allowed: tuple[str, ...]
) -> None:
    crowd = Crowd(started, LISTENERS, SEED, texts=8)
    assert crowd.wait_until_each_hears(), "not every listener hears"
    done: list[Kill] = []
    for _ in range(kills):
        for victim in started.children(f"{role}[" if role == "worker" else role)[:1]:
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                continue
            done.append(Kill(role, time.monotonic()))
        time.sleep(seconds / kills)  # the pace is what is tested: no event is waited for
    last = time.monotonic()
    assert crowd.wait_until_each_hears(since=last)
    check(crowd.leave(), done, tmp_path, SEED, allowed)
