"""Reports to fronts and people on several workers: where each is, how each ended, and which of them is heard."""

from __future__ import annotations

import signal

import msgspec
import pytest

from shm.engine_info import Priority
from shm.messages import Connect, Placed, Started
from supervisor.processes.lifecycle import Changes
from tests.supervisor.fakes import ESPEAK, KOKORO, House
from tests.supervisor.processes.test_worker_slots import both_up, workers


def test_one_that_has_moved_is_shown_where_it_is_and_later_fronts_hear_so() -> None:
    house = House(workers=2, standby="loaded")
    engine = msgspec.structs.replace(KOKORO, priority=Priority(0, (0,)))
    front, _ = house.up(engine)
    second = house.newest("worker")
    house.ready(second, msgspec.structs.replace(KOKORO, priority=Priority(0, (1,))))
    standby = house.newest("worker")
    house.ready(standby, engine)
    house.dies(second)
    house.passes(0.05)
    house.lifecycle.message(standby, Placed(Priority(0, (1,))))
    assert [report.priority for report in workers(front)] == [Priority(0, (0,)), Priority(0, (1,))]
    house.dies(front)
    house.passes(0.05)
    house.lifecycle.message(house.newest("front"), Started())
    told = house.newest("front").heard_of(Connect)
    assert [m.engine.priority.processors for m in told] == [(0,), (1,)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("let_go", [False, True])
def test_the_end_of_a_standby_is_nobody_elses(let_go: bool) -> None:
    house, front, _, second = both_up("imported")
    standby = house.newest("worker")
    if let_go:
        house.changes = Changes(front=False, worker=True)
        house.lifecycle.signal(signal.SIGHUP)
        assert house.newest("worker") is not standby
    house.dies(standby)
    assert [report.last_exit for report in workers(front)[:2]] == ["", ""]
    house.dies(second)
    assert [report.last_exit for report in workers(front)[:2]] == ["", "SIGKILL"]


def test_of_two_engines_the_better_one_is_said_to_speak() -> None:
    house, _, first, _ = both_up()
    house.dies(first)
    house.passes(0.05)
    house.ready(house.newest("worker"), ESPEAK)
    assert "speaking with kokoro" in house.standings[-1].summary
    assert "2 of 2 workers" in house.standings[-1].summary
