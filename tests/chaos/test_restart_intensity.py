"""Blackbox: kills in quick succession, whenever they strike, of a server with default settings and eight listeners."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from tests.chaos.evidence import SEED, Kill, check
from tests.chaos.listeners import Crowd
from tests.chaos.loops import kill
from tests.system.server import server

LISTENERS = 8


@pytest.mark.parametrize("role", ["worker", "front"])
def test_a_process_that_has_worked_is_started_again_at_once_each_time(swift: tuple[str, ...], role: str) -> None:
    with server(*swift) as started:
        for _ in range(3):
            started.hear(input="It works.", response_format="pcm")
            start = len(started.log)
            kill(started, role)
            assert started.logs(rf"the {role} died .*again in (\S+) s", start)[1] == "0"


@pytest.mark.parametrize(
    ("role", "kills", "seconds", "allowed"),
    [
        pytest.param("worker", 8, 4.0, ("complete",), marks=pytest.mark.timeout(300)),
        pytest.param("worker", 20, 10.0, ("complete",), marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
        pytest.param("front", 6, 3.0, ("complete", "cut"), marks=pytest.mark.timeout(300)),
        pytest.param("front", 6, 12.0, ("complete", "cut"), marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
    ],
)
def test_no_connection_is_refused_and_no_sample_lost(
    swift: tuple[str, ...], tmp_path: Path, role: str, kills: int, seconds: float, allowed: tuple[str, ...]
) -> None:
    with server(*swift) as started:
        crowd = Crowd(started, LISTENERS, SEED)
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
