"""Blackbox: processes of a server with eight listeners killed at random moments, over and over."""

import contextlib
import random
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.evidence import SEED, Kill, check
from tests.chaos.listeners import Crowd
from tests.chaos.loops import kill, kill_again_and_again, kill_both, kill_supervisor
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.ports import lasting_port
from tests.system.server import Server, server
from tests.system.shared import SharedServer

LISTENERS = 8


def counts(short: int, long: int) -> list[object]:
    """The short form takes a fraction of its time limit, but for a machine that has much else to do."""
    return [
        pytest.param(short, marks=pytest.mark.timeout(600)),
        pytest.param(long, marks=[pytest.mark.slow, pytest.mark.timeout(7200)]),
    ]


@pytest.fixture
def target(house: SharedServer) -> Server:
    started = house.calm()
    warm_up(started)
    return started


def loop(
    target: Server,
    count: int,
    folder: Path,
    strike: Callable[[random.Random], list[Kill]],
    allowed: tuple[str, ...],
) -> None:
    before = settled(target)
    rng = random.Random(SEED)
    crowd = Crowd(target, LISTENERS, SEED, texts=8)
    kills: list[Kill] = []
    try:
        kill_again_and_again(crowd, count, rng, lambda: strike(rng), kills)
    finally:
        histories = crowd.leave()
    check(histories, kills, folder, SEED, allowed)
    assert comes_back_to(before, target) == before


@pytest.mark.parametrize("count", counts(1, 1000))
def test_no_listener_hears_a_worker_being_killed(target: Server, tmp_path: Path, count: int) -> None:
    loop(target, count, tmp_path, lambda _: [kill(target, "worker")], allowed=("complete",))


@pytest.mark.parametrize("count", counts(1, 300))
def test_a_killed_front_cuts_what_it_was_sending_and_the_worker_keeps_its_model(
    target: Server, tmp_path: Path, count: int
) -> None:
    worker = target.child("worker[")
    loop(target, count, tmp_path, lambda _: [kill(target, "front")], allowed=("complete", "cut"))
    assert target.child("worker[") == worker


@pytest.mark.parametrize("count", counts(1, 100))
def test_front_and_worker_killed_together(target: Server, tmp_path: Path, count: int) -> None:
    loop(target, count, tmp_path, lambda rng: kill_both(target, rng), allowed=("complete", "cut"))


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
