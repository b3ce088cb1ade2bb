"""Real fronts that die or are stopped, with a spare one."""

import os
import signal
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from tests import platforms
from tests.system.server import DEADLINE, Server, awaited, server

ENDS = [signal.SIGKILL, *([signal.SIGSTOP] if sys.platform == "linux" else [])]


@pytest.fixture(scope="module")
def target() -> Iterator[Server]:
    with server("--engine", "espeak", "--standby-front") as started:
        yield started


def spare(of: Server) -> psutil.Process:
    give_up = time.monotonic() + DEADLINE
    while time.monotonic() < give_up:
        for process in of.get("/status")[1]["processes"]:
            if (process["role"], process["state"]) == ("standby-front", "ready"):
                return psutil.Process(process["pid"])
    raise AssertionError("no front stands by")


@pytest.mark.parametrize("number", ENDS)
def test_the_spare_front_serves_in_the_place_of_one_that_died_or_was_stopped(target: Server, number: int) -> None:
    """Only Linux tells of a stop at once."""
    next_one, front, start = spare(target), target.child("front"), len(target.log)
    assert next_one != front
    front.send_signal(number)
    front.wait(DEADLINE)
    assert target.speak(input="Still here.", response_format="pcm").read()
    assert target.child("front") == next_one
    assert number == signal.SIGKILL or target.logs(r"front\[\d+\] was stopped: ending it", start)


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


@platforms.linux_only("elsewhere fronts aren't forked")
def test_fronts_are_forks_of_the_template_and_do_without_it(target: Server) -> None:
    next_one, template = spare(target), target.child("template")
    assert template.num_threads() <= 2  # numpy's own
    for front in (target.child("front"), next_one):
        assert front.ppid() == target.process.pid and front.cmdline() != template.cmdline()
    for harm in (psutil.Process.kill, psutil.Process.suspend):
        start = len(target.log)
        harm(target.child("template"))
        for _ in range(2):
            front = target.child("front")
            front.kill()
            front.wait(DEADLINE)
            assert target.speak(input="Still here.", response_format="pcm").read()
        assert target.logs(r"the fronts' template has failed", start)
        awaited(lambda: target.children("template"))
        spare(target)
    awaited(lambda: all(each.status() != psutil.STATUS_ZOMBIE for each in target.family()))
