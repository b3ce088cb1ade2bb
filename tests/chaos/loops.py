"""Loops that kill processes of a server under load at random moments, and wait each time until all listeners hear."""

import functools
import os
import random
import signal
import threading
import time
from collections.abc import Callable

import psutil

from tests.chaos.evidence import Kill
from tests.chaos.listeners import SENTENCES, Crowd, expected_bytes
from tests.chaos.residue import shared_memory
from tests.system.server import DEADLINE, Server, all_gone

UNLIMITED = ("--max-deaths", "0")
"""Flags for a server that is killed on purpose: no crash loop, no backoff."""

IN_FLIGHT = 0.05
"""Seconds after a kill in which listeners may still get what was sealed before it."""

LONGEST_PAUSE = 0.25
"""Seconds, at most, from a recovery to the next kill."""


@functools.cache
def two_segments() -> int:
    """Bytes of the two longest sentences at most."""
    return 2 * max(len(expected_bytes(sentence)) for sentence in SENTENCES)


def kill(to: Server, role: str) -> Kill:
    (victim, *_) = to.children(f"{role}[" if role == "worker" else role)
    os.kill(victim.pid, signal.SIGKILL)
    return Kill(role, time.monotonic())


def kill_both(to: Server, rng: random.Random) -> list[Kill]:
    """Front and worker, in either order, within a moment of each other."""
    roles = ["front", "worker"]
    rng.shuffle(roles)
    victims = [(role, to.children(f"{role}[" if role == "worker" else role)[0].pid) for role in roles]
    done = []
    for role, pid in victims:
        os.kill(pid, signal.SIGKILL)
        done.append(Kill(role, time.monotonic()))
        time.sleep(rng.choice([0.0, rng.uniform(0, 0.02)]))
    return done


def kill_supervisor(to: Server, crowd: Crowd, rng: random.Random) -> Kill:
    """SIGKILL it while the crowd listens; everything that it started is gone, and so is what it shared."""
    shared = shared_memory()
    assert crowd.wait_until_each_hears(), "not every listener hears"
    time.sleep(rng.uniform(0, LONGEST_PAUSE))
    family = to.family()
    crowd.dismiss()
    os.kill(to.process.pid, signal.SIGKILL)
    killed = Kill("supervisor", time.monotonic())
    assert all_gone(family), "somebody outlives the supervisor"
    assert shared_memory() == shared
    return killed


def stop_worker(to: Server, rng: random.Random) -> Kill:
    """SIGSTOP it; wait until the server has noticed, killed and reaped it. Half of the time it wakes just before."""
    start = len(to.log)
    stopped = to.child("worker[")
    stopped.suspend()
    done = Kill("worker", time.monotonic(), "SIGSTOP")
    if rng.random() < 0.5:
        wake_before_the_kill(to, stopped, start)
    to.logs("Current thread|Thread 0x", start)
    to.logs("it hangs", start)
    assert stopped.wait(DEADLINE) is None, "not our child"
    assert not psutil.pid_exists(stopped.pid), "reaped"
    return done


def wake_before_the_kill(to: Server, stopped: psutil.Process, start: int) -> None:
    """Wake the stopped process as soon as the front has given it up."""

    def wake() -> None:
        to.logs("lost worker generation", start)
        try:
            os.kill(stopped.pid, signal.SIGCONT)
        except ProcessLookupError:
            return  # the kill was faster

    threading.Thread(target=wake).start()


def kill_again_and_again(
    crowd: Crowd, count: int, rng: random.Random, strike: Callable[[], list[Kill]], kills: list[Kill]
) -> None:
    """`strike` so many times; after each, wait until every stream has left behind it what the kill may have hit.

    `kills` gets each as it happens.
    """
    assert crowd.wait_until_each_hears(), "not every listener hears"
    for _ in range(count):
        time.sleep(rng.uniform(0, LONGEST_PAUSE))
        if not crowd.going:
            return
        start = len(crowd.to.log)
        struck = strike()
        kills += struck
        if any(kill.role == "worker" for kill in struck):
            # While there is no worker, what was sealed before is heard, however slow the machine is.
            crowd.to.logs(r"worker\[\d+\] is ready", start)
        assert recovered(crowd, kills[-1]), f"somebody waits for ever after {kills[-1]}"


def recovered(crowd: Crowd, kill: Kill) -> bool:
    """Wait until no segment is left that saw the kill; false if one stays.

    Three deaths on one block fail its stream by design, so not all of three kills may hit it. A stream may have two
    segments in a worker; it is past the kill when it has heard as much as those since, or has ended.
    """
    time.sleep(IN_FLIGHT)
    struck = [(heard, heard.heard) for heard in crowd.latest()]
    over = crowd.wait_for(
        lambda: all(heard.ended or heard.heard >= before + two_segments() for heard, before in struck)
    )
    return over and crowd.wait_until_each_hears(since=kill.at + IN_FLIGHT)
