"""Kills of processes that serve, as fast as they come up, with default settings: the server goes on."""

from __future__ import annotations

import pytest

from shm.messages import ChildProgress, Connect, Started
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import House

MAX_DEATHS = SupervisorSettings().max_deaths
WINDOW = SupervisorSettings().death_window


@pytest.mark.parametrize("role", ["worker", "front"])
def test_a_process_that_dies_after_each_piece_of_work_is_started_again_at_once_for_ever(role: str) -> None:
    house = House()
    house.up()
    for _ in range(20 * MAX_DEATHS):
        child = house.newest(role)
        house.lifecycle.message(child, ChildProgress())
        house.dies(child)
        house.passes(0.05)
        assert house.newest(role) is not child, "no wait"
        if role == "worker":
            house.ready(house.newest(role))
        else:
            house.lifecycle.message(house.newest(role), Started())
    front, worker = house.newest("front"), house.newest("worker")
    assert front.heard_of(Connect)[-1].generation == worker.generation
    assert front.situation.worker_state == "running"
    assert house.listening and house.lifecycle.exit_code is None


@pytest.mark.parametrize(("role", "kills", "seconds"), [("worker", 20, 10.0), ("front", 6, 12.0)])
def test_kills_before_anything_was_done_are_no_crash_loop_within_a_few_seconds(
    role: str, kills: int, seconds: float
) -> None:
    house = House(standby="imported")
    house.up()
    for _ in range(kills):
        alive = [child for child in house.all(role) if not child.reaped]
        if alive:  # else the next one waits for its start
            house.dies(alive[0])
        house.passes(seconds / kills)
    house.passes(5.0)
    if role == "front":
        house.lifecycle.message(house.newest("front"), Started())
    else:
        loading = [child for child in house.all("worker") if not child.reaped and child.heard]
        house.ready(loading[0])
    told = house.newest("front").situation
    assert told.worker_state == "running" and house.listening and house.lifecycle.exit_code is None


def test_a_worker_that_served_for_the_whole_window_without_being_asked_dies_as_after_progress() -> None:
    house = House()
    _, worker = house.up()
    for _ in range(2 * MAX_DEATHS):
        house.passes(WINDOW)
        house.dies(worker)
        house.passes(0.05)
        worker = house.newest("worker")
        house.ready(worker)
    assert not worker.reaped


def test_what_a_dead_process_did_says_nothing_of_the_next() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(worker, ChildProgress())
    house.dies(worker)
    for _ in range(MAX_DEATHS):
        house.passes(WINDOW / (MAX_DEATHS - 1))
        house.dies(house.newest("worker"))
    assert front.situation.worker_state == "fatal"
