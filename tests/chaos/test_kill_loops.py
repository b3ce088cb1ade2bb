"""Blackbox: processes of a server with listeners killed at random, in quick succession, idle, and stopped at work."""

import contextlib
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.chaos.evidence import SEED, Kill, check
from tests.chaos.listeners import Crowd, Heard, listen, some_text
from tests.chaos.loops import kill, kill_again_and_again, kill_both, kill_supervisor, stop_worker
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.ports import lasting_port
from tests.system.server import DEADLINE, Server, server
from tests.system.shared import SharedServer

LISTENERS = 8


@pytest.fixture
def target(house: SharedServer) -> Server:
    started = house.calm()
    warm_up(started)
    return started


STRIKES: dict[str, tuple[int, tuple[str, ...], Callable[[Server, random.Random], list[Kill]]]] = {
    "worker": (1000, ("complete",), lambda target, _: [kill(target, "worker")]),
    "front": (300, ("complete", "cut"), lambda target, _: [kill(target, "front")]),
    "front and worker": (100, ("complete", "cut"), kill_both),
}
"""The killed processes: how often in the long form, which ends a listener may hear, and how."""


@pytest.mark.parametrize(
    ("who", "count"),
    [
        pytest.param("worker", 1, marks=pytest.mark.timeout(600)),  # of the others `tests.system.test_processes`
        *(
            pytest.param(who, often, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])
            for who, (often, *_) in STRIKES.items()
        ),
    ],
)
def test_no_listener_hears_a_kill_and_a_worker_keeps_its_model(
    target: Server, tmp_path: Path, who: str, count: int
) -> None:
    _, allowed, strike = STRIKES[who]
    before, worker = settled(target), target.child("worker[")
    rng = random.Random(SEED)
    crowd = Crowd(target, LISTENERS, SEED, texts=8)
    kills: list[Kill] = []
    try:
        kill_again_and_again(crowd, count, rng, lambda: strike(target, rng), kills)
    finally:
        histories = crowd.leave()
    check(histories, kills, tmp_path, SEED, allowed)
    assert comes_back_to(before, target) == before
    assert who != "front" or target.child("worker[") == worker


def leaves_nothing_behind(started: Server, folder: Path, seed: int) -> None:
    """Kill the supervisor among listeners, and look for what is left."""
    crowd = Crowd(started, LISTENERS, seed, texts=8)
    try:
        killed = kill_supervisor(started, crowd, random.Random(seed))
    finally:
        histories = crowd.leave()
    answered = [heard for heard in histories if heard.ending != "refused"]
    check(answered, [killed], folder, seed, allowed=("complete", "cut"))
    with contextlib.closing(socket.socket()) as probe:
        assert probe.connect_ex(("127.0.0.1", started.port)) != 0, "somebody holds the port"
    assert not list(started.temporary.iterdir()), "no temporary file stays"


@pytest.mark.ends_server
def test_a_killed_supervisor_leaves_nothing_behind(house: SharedServer, tmp_path: Path) -> None:
    leaves_nothing_behind(house.calm(), tmp_path, SEED)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_supervisor_killed_again_and_again_leaves_nothing_behind(swift: tuple[str, ...], tmp_path: Path) -> None:
    port = lasting_port()
    for number in range(100):
        with server(*swift, "--port", str(port)) as started:
            leaves_nothing_behind(started, tmp_path, SEED + number)


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
