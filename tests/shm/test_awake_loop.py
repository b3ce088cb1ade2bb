"""The event loop of a process that sleeps: an imitated clock jumps at any of the loop's waits, or in its work."""

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from shm.awake_loop import LATE, run
from tests.shm.imitated_machine import HOURS, Machine

ROOT = Path(__file__).parents[2]


async def within_a_timeout() -> None:
    """Work of many steps that takes half of the time that it has."""
    async with asyncio.timeout(10.0):
        for _ in range(5):
            await asyncio.sleep(1.0)


async def awaited_for() -> None:
    await asyncio.wait_for(asyncio.sleep(3.0), 4.0)


async def a_deadline_that_is_put_off() -> None:
    """A connection's timer that each message sets again (`call_later`)."""
    loop, cut = asyncio.get_running_loop(), asyncio.Event()
    timer = loop.call_later(5.0, cut.set)
    for _ in range(5):
        await asyncio.sleep(3.0)
        timer.cancel()
        timer = loop.call_later(5.0, cut.set)
    timer.cancel()
    assert not cut.is_set()


async def a_deadline_that_passes() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(4.0):
            await asyncio.sleep(60.0)


KINDS = {within_a_timeout: 5.0, awaited_for: 3.0, a_deadline_that_is_put_off: 15.0, a_deadline_that_passes: 4.0}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_sleep_at_any_wait_moves_every_deadline(kind: Callable[[], Awaitable[Any]], monkeypatch: Any) -> None:
    machine = Machine(monkeypatch)
    assert machine.run(kind) == pytest.approx(KINDS[kind])
    for sleeps_at in range(1, machine.waits + 1):
        assert machine.run(kind, sleeps_at) == pytest.approx(KINDS[kind]), f"asleep at wait {sleeps_at}"


def test_a_stop_in_the_middle_of_work_counts_as_sleep_and_work_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, used = Machine(monkeypatch), itertools.count(0.0, 3.0)
    monkeypatch.setattr(time, "thread_time", lambda: next(used))

    async def stopped() -> None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        machine.now += HOURS
        await asyncio.sleep(0)
        assert loop.time() - before == pytest.approx(3.0), "what the thread computed"
        machine.now += LATE / 2
        await asyncio.sleep(0)
        assert loop.time() - before == pytest.approx(3.0 + LATE / 2)

    machine.run(stopped)


def test_on_a_real_clock_it_is_the_monotonic_one() -> None:
    async def times() -> float:
        await asyncio.sleep(0)
        return asyncio.get_running_loop().time() - time.monotonic()

    assert run(times()) == pytest.approx(0.0, abs=LATE)


def test_every_process_with_an_event_loop_runs_on_such_a_one() -> None:
    """The children whose loops keep deadlines: a command of a person's may time out after a sleep."""
    for process in ("frontend/process.py", "player/process.py", "books/jobs/process.py"):
        code = (ROOT / process).read_text()
        assert "run_and_exit(" in code and "asyncio.run(" not in code, process


@pytest.mark.parametrize(("ending", "status"), [("pass", 0), ("raise ValueError('unforeseen')", 1)])
def test_a_process_ends_without_its_threads_and_says_why(ending: str, status: int) -> None:
    code = (
        "import logging, threading; from shm.awake_loop import run_and_exit; logging.basicConfig()\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        f"async def main():\n    {ending}\n"
        "run_and_exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "unforeseen" in done.stderr) == (status, bool(status))
