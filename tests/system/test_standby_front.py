"""Real fronts that die or are stopped, with a spare one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from tests import platforms
from tests.system.server import DEADLINE, Server, server

ENDS = [signal.SIGKILL, signal.SIGSEGV, *([signal.SIGSTOP] if sys.platform == "linux" else [])]


@pytest.fixture(scope="module")
def target() -> Iterator[Server]:
    with server("--engine", "espeak", "--standby-front") as started:
        yield started


def spare(of: Server) -> psutil.Process:
    """The front that stands by, once it is ready."""
    give_up = time.monotonic() + DEADLINE
    while time.monotonic() < give_up:
        for process in of.get("/status")[1]["processes"]:
            if (process["role"], process["state"]) == ("standby-front", "ready"):
                return psutil.Process(process["pid"])
    raise AssertionError("no front stands by")


@pytest.mark.parametrize("number", ENDS)
def test_the_spare_front_serves_in_the_place_of_one_that_died_or_was_stopped(target: Server, number: int) -> None:
    next_one, front = spare(target), target.child("front")
    assert next_one != front
    front.send_signal(number)
    front.wait(DEADLINE)
    assert target.speak(input="Still here.", response_format="pcm").read()
    assert target.child("front") == next_one


@platforms.linux_only("only Linux tells of a stop at once")
def test_a_stopped_front_is_ended(target: Server) -> None:
    start, front = len(target.log), target.child("front")
    front.suspend()
    front.wait(DEADLINE)
    assert target.get("/health")[0] == 200
    assert target.logs(r"front\[\d+\] was stopped: ending it", start)


@platforms.linux_only("only Linux tells of a stop at once")
def test_a_stop_of_the_whole_group_ends_nobody(target: Server) -> None:
    next_one, front, start = spare(target), target.child("front"), len(target.log)
    for _ in range(30):
        os.killpg(target.process.pid, signal.SIGSTOP)
        while psutil.Process(target.process.pid).status() != psutil.STATUS_STOPPED:
            pass
        os.killpg(target.process.pid, signal.SIGCONT)
        assert target.get("/health")[0] == 200
    assert target.child("front") == front and next_one.is_running()
    assert not [line for line in target.log[start:] if "was stopped" in line]
