"""Histories of children that start, die and are told to stop, replayed without a process and without waiting."""

from __future__ import annotations

import random
import signal

import pytest

from shm.messages import (
    BootFailure,
    Connect,
    Disconnect,
    Distrust,
    Drain,
    Idle,
    Load,
    ProviderFailure,
    Recycle,
    Situation,
    Started,
)
from supervisor.exit_codes import ExitCode
from supervisor.lifecycle import Changes
from supervisor.nursery import KILL_GRACE
from supervisor.settings import SupervisorSettings
from supervisor.workers import DUMP_GRACE
from tests.supervisor.fakes import ESPEAK, KOKORO, House

MAX_DEATHS = SupervisorSettings().max_deaths


@pytest.mark.parametrize("order", ["front first", "worker first"])
def test_both_are_joined_by_one_channel_whoever_is_ready_first(order: str) -> None:
    house = House()
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    if order == "front first":
        house.lifecycle.message(front, Started())
    house.ready(worker)
    if order == "worker first":
        house.lifecycle.message(front, Started())
    assert [m.generation for m in worker.heard_of(Connect)] == [worker.generation]
    assert [m.engine for m in front.heard_of(Connect)] == [ESPEAK]
    assert [ready.engine for ready in house.announced] == [ESPEAK]


def test_a_dead_worker_is_replaced_at_once_and_the_front_hears_of_both() -> None:
    house = House()
    front, worker = house.up()
    house.dies(worker)
    assert front.heard_of(Disconnect) == [Disconnect(worker.generation)]
    house.passes(0.05)
    successor = house.newest("worker")
    assert successor is not worker
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation
    assert front.heard_of(Situation)[-1].restarts == {"front": 0, "worker": 1}


def test_a_worker_that_dies_again_and_again_waits_longer_and_is_given_up() -> None:
    house = House()
    front, _ = house.up()
    for _ in range(MAX_DEATHS):
        house.dies(house.newest("worker"))
        house.passes(5.0)
    started = house.count("worker")
    assert started == MAX_DEATHS
    assert front.heard_of(Situation)[-1].worker_state == "fatal"
    assert "keeps dying" in front.heard_of(Situation)[-1].reason
    house.passes(100.0)
    assert house.count("worker") == started
    assert house.lifecycle.exit_code is None, "the front still answers, with 503 and the reason"


def test_a_dead_front_gets_a_fresh_channel_to_the_same_worker() -> None:
    house = House()
    front, worker = house.up()
    house.dies(front)
    house.passes(0.05)
    reborn = house.newest("front")
    house.lifecycle.message(reborn, Started())
    assert house.count("worker") == 1, "the worker keeps its model"
    assert [m.generation for m in worker.heard_of(Connect)] == [worker.generation] * 2
    assert [m.generation for m in reborn.heard_of(Connect)] == [worker.generation]
    assert house.listening


def test_a_front_that_keeps_dying_ends_the_server_with_its_own_status() -> None:
    house = House()
    house.up()
    for _ in range(MAX_DEATHS):
        house.dies(house.newest("front"))
        house.passes(5.0)
    worker = house.newest("worker")
    assert worker.heard_of(Drain)
    house.dies(worker, 0)
    assert house.lifecycle.exit_code is ExitCode.CRASH_LOOP


def test_a_worker_that_cannot_start_at_boot_ends_the_server() -> None:
    house = House()
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    house.lifecycle.message(worker, BootFailure("engine", "no model"))
    house.dies(worker, 1)
    house.dies(front)
    assert house.lifecycle.exit_code is ExitCode.ENGINE
    assert house.count("worker") == 1


def test_a_worker_that_cannot_start_again_leaves_the_reason_with_the_front() -> None:
    house = House()
    front, worker = house.up(KOKORO)
    house.dies(worker)
    house.passes(0.05)
    again = house.newest("worker")
    house.lifecycle.message(again, BootFailure("engine", "the model is gone"))
    house.dies(again, 1)
    house.passes(60)
    assert front.heard_of(Situation)[-1] == Situation("fatal", "the model is gone", {"front": 0, "worker": 1})
    assert house.count("worker") == 2 and house.lifecycle.exit_code is None


def test_a_worker_that_hangs_is_replaced_at_once_and_killed_when_it_has_left_its_stacks() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation, "it hangs"))
    assert worker.dumped and not worker.killed
    house.passes(0.05)
    assert house.newest("worker") is not worker, "nobody waits for its end"
    house.passes(DUMP_GRACE)
    assert worker.killed
    house.ready(house.newest("worker"))
    house.dies(worker)
    assert front.heard_of(Situation)[-1].restarts["worker"] == 1, "one death, not two"


def test_a_death_that_the_front_sees_first_counts_once() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation, "the other end closed"))
    house.dies(worker)
    house.passes(1.0)
    assert house.count("worker") == 2
    assert front.heard_of(Situation)[-1].restarts["worker"] == 1


def test_distrust_of_a_generation_that_is_gone_hurts_nobody() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation + 100, "late"))
    assert not worker.killed


def test_a_front_that_does_not_listen_is_killed() -> None:
    house = House()
    front, worker = house.up()
    front.deaf = True
    house.dies(worker)
    assert front.killed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_the_front_first_and_then_the_worker(number: int) -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.signal(number)
    assert not house.listening
    assert front.heard_of(Drain) and not worker.heard_of(Drain), "streams still need the worker"
    house.dies(front, 0)
    assert worker.heard_of(Drain)
    assert house.lifecycle.exit_code is None
    house.dies(worker, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


def test_draining_is_bounded() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.passes(10.0 + KILL_GRACE - 0.1)
    assert not front.killed
    house.passes(0.2)
    assert front.killed
    house.dies(front)
    house.passes(KILL_GRACE + 0.1)
    assert worker.killed


def test_a_second_interrupt_ends_at_once() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGINT)
    house.lifecycle.signal(signal.SIGINT)
    assert front.killed and worker.killed
    house.dies(front)
    house.dies(worker)
    assert house.lifecycle.exit_code is ExitCode.INTERRUPTED


def test_a_second_sigterm_changes_nothing() -> None:
    house = House()
    front, _ = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.lifecycle.signal(signal.SIGTERM)
    assert not front.killed and len(front.heard_of(Drain)) == 1


def test_a_worker_that_dies_while_the_front_drains_is_replaced_for_the_streams_that_are_left() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(worker)
    house.passes(0.05)
    successor = house.newest("worker")
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation
    house.dies(front, 0)
    assert successor.heard_of(Drain)
    house.dies(successor, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


def test_a_front_that_dies_while_draining_is_not_replaced() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front)
    house.dies(worker, 0)
    house.passes(5.0)
    assert house.count("front") == house.count("worker") == 1
    assert house.lifecycle.exit_code is ExitCode.OK


@pytest.mark.parametrize("state", ["starting", "backoff"])
def test_a_signal_before_anything_serves_ends_with_0(state: str) -> None:
    house = House()
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    if state == "backoff":
        house.dies(worker)
        house.dies(front)
    house.lifecycle.signal(signal.SIGTERM)
    for child in house.children:
        if not child.reaped:
            house.dies(child)
    house.passes(10)
    assert house.lifecycle.exit_code is ExitCode.OK
    assert house.count("worker") == house.count("front") == 1


def test_a_fetched_model_gets_a_worker_of_its_own_before_the_old_one_stops() -> None:
    house = House(fetch=True)
    front, espeak = house.up()
    fetcher = house.newest("fetcher")
    house.dies(fetcher, 0)
    kokoro = house.newest("worker")
    assert kokoro is not espeak and not front.heard_of(Disconnect)
    house.ready(kokoro, KOKORO)
    told = [m for m in front.heard if isinstance(m, Connect | Disconnect)][-2:]
    assert [type(m) for m in told] == [Connect, Disconnect], "the new one is there before the old one goes"
    assert told[1] == Disconnect(espeak.generation, draining=True)
    assert not espeak.heard_of(Drain), "it still has streams"
    house.lifecycle.message(front, Idle(espeak.generation))
    assert espeak.heard_of(Drain)
    house.dies(espeak, 0)
    house.passes(5)
    assert house.count("worker") == 2
    assert house.announced[-1].engine is KOKORO


@pytest.mark.parametrize("status", [1, -9])
def test_a_fetch_that_failed_changes_nothing(status: int) -> None:
    house = House(fetch=True)
    house.up()
    house.dies(house.newest("fetcher"), status)
    house.passes(100)
    assert house.count("worker") == 1 and house.count("fetcher") == 1


def test_a_successor_that_dies_leaves_the_speaking_worker_alone() -> None:
    house = House(fetch=True)
    front, espeak = house.up()
    house.dies(house.newest("fetcher"), 0)
    house.dies(house.newest("worker"), 1)
    assert not front.heard_of(Disconnect) and not espeak.heard_of(Drain)


def test_a_worker_that_dies_while_its_successor_loads_is_replaced_by_that() -> None:
    house = House(fetch=True)
    front, espeak = house.up()
    house.dies(house.newest("fetcher"), 0)
    successor = house.newest("worker")
    house.dies(espeak)
    house.passes(0.05)
    assert house.count("worker") == 2, "one is loading already"
    house.ready(successor, KOKORO)
    assert front.heard_of(Connect)[-1].generation == successor.generation


def test_an_imported_standby_is_told_to_load_when_it_is_needed_and_another_takes_its_place() -> None:
    house = House(standby="imported")
    front, worker = house.up()
    standby = house.newest("worker")
    assert standby is not worker and not standby.heard
    house.dies(worker)
    house.passes(0.05)
    assert standby.heard_of(Load) and house.count("worker") == 2
    house.ready(standby)
    assert front.heard_of(Connect)[-1].generation == standby.generation
    assert house.count("worker") == 3


def test_a_loaded_standby_speaks_the_moment_it_is_needed() -> None:
    house = House(standby="loaded")
    front, worker = house.up()
    standby = house.newest("worker")
    assert standby.heard_of(Load)
    house.ready(standby)
    assert len(front.heard_of(Connect)) == 1, "not before"
    house.dies(worker)
    house.passes(0.05)
    assert front.heard_of(Connect)[-1].generation == standby.generation


def test_a_standby_that_dies_is_replaced_later_and_costs_nothing() -> None:
    house = House(standby="imported")
    front, _worker = house.up()
    house.dies(house.newest("worker"))
    assert house.count("worker") == 2
    house.passes(10)
    assert house.count("worker") == 3
    assert not front.heard_of(Disconnect) and front.heard_of(Situation)[-1].restarts["worker"] == 0


def test_a_worker_that_has_grown_is_replaced_when_another_is_ready() -> None:
    house = House(standby="imported")
    front, worker = house.up()
    standby = house.newest("worker")
    house.lifecycle.message(worker, Recycle("too large"))
    assert standby.heard_of(Load) and not front.heard_of(Disconnect)
    house.ready(standby)
    assert front.heard_of(Disconnect) == [Disconnect(worker.generation, draining=True)]
    house.lifecycle.message(front, Idle(worker.generation))
    assert worker.heard_of(Drain)


def test_a_provider_that_fails_is_left_out_by_the_next_generation() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(worker, ProviderFailure("CUDAExecutionProvider", "out of memory"))
    house.passes(0.05)
    successor = house.newest("worker")
    assert successor.heard_of(Load) == [Load(("CUDAExecutionProvider",))]
    house.dies(worker, 1)
    house.ready(successor)
    told = front.heard_of(Situation)[-1]
    assert told.provider_failures == {"CUDAExecutionProvider": "out of memory"}
    assert told.restarts["worker"] == 0, "it is no crash"


def test_a_loaded_standby_on_a_failed_provider_is_not_used() -> None:
    house = House(standby="loaded")
    _front, worker = house.up()
    standby = house.newest("worker")
    house.ready(standby)
    house.lifecycle.message(worker, ProviderFailure("CoreMLExecutionProvider", "no"))
    house.passes(1.0)
    assert standby.killed
    assert house.newest("worker").heard_of(Load) == [Load(("CoreMLExecutionProvider",))]


def test_a_provider_that_fails_at_the_first_start_is_left_out_too() -> None:
    house = House()
    house.lifecycle.start()
    worker = house.newest("worker")
    house.lifecycle.message(worker, ProviderFailure("CUDAExecutionProvider", "missing"))
    house.dies(worker, 1)
    house.passes(0.05)
    assert house.newest("worker").heard_of(Load) == [Load(("CUDAExecutionProvider",))]


def test_new_settings_bring_a_new_worker_and_a_new_front_and_no_stream_notices() -> None:
    house = House(standby="imported")
    front, worker = house.up()
    stale = house.newest("worker")
    house.changes = Changes(front=True, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    house.passes(1.0)
    assert stale.killed, "it was started with the old settings"
    house.dies(stale)
    successor, reborn = house.newest("worker"), house.newest("front")
    house.ready(successor)
    assert {m.generation for m in front.heard_of(Connect)} == {worker.generation, successor.generation}
    house.lifecycle.message(reborn, Started())
    assert reborn.heard_of(Connect)[-1].generation == successor.generation
    assert front.heard_of(Drain) and not reborn.heard_of(Drain)
    house.lifecycle.message(front, Idle(worker.generation))
    assert worker.heard_of(Drain)
    house.dies(front, 0)
    house.dies(worker, 0)
    house.passes(10)
    assert front.heard_of(Situation)[-1].restarts == {"front": 0, "worker": 0}


def test_a_worker_that_two_fronts_use_ends_when_both_have_let_it_go() -> None:
    house = House()
    front, worker = house.up()
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    reborn = house.newest("front")
    house.lifecycle.message(reborn, Started())
    house.lifecycle.message(worker, Recycle("old"))
    house.ready(house.newest("worker"))
    house.lifecycle.message(reborn, Idle(worker.generation))
    assert not worker.heard_of(Drain)
    house.dies(front, 0)
    assert worker.heard_of(Drain)


def test_settings_that_did_not_change_change_nothing() -> None:
    house = House()
    front, _worker = house.up()
    house.lifecycle.signal(signal.SIGHUP)
    assert len(house.children) == 2 and not front.heard_of(Drain)


def test_a_hangup_while_stopping_is_ignored() -> None:
    house = House()
    house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.changes = Changes(front=True, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    assert len(house.children) == 2


def test_spares_end_with_the_server() -> None:
    house = House(standby="imported")
    front, worker = house.up()
    standby = house.newest("worker")
    house.lifecycle.signal(signal.SIGTERM)
    assert standby.killed
    for child in (standby, front, worker):
        house.dies(child, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


@pytest.mark.parametrize("seed", range(300))
def test_any_history_ends_when_it_is_told_to(seed: int) -> None:
    """Random events in any state: no transition is asserted wrong, and SIGTERM always ends it with 0."""
    chance = random.Random(seed)
    house = House(fetch=chance.random() < 0.5, standby=chance.choice(["off", "imported", "loaded"]))
    house.lifecycle.start()
    for _ in range(40):
        alive = [child for child in house.children if not child.reaped]
        child = chance.choice(alive) if alive else None
        event = chance.choice(["message", "message", "dies", "time", "hup"])
        if event == "time":
            house.passes(chance.choice([0.05, 0.3, 6.0, 40.0]))
        elif event == "hup":
            house.changes = Changes(front=chance.random() < 0.5, worker=chance.random() < 0.5)
            house.lifecycle.signal(signal.SIGHUP)
        elif child is None or house.lifecycle.exit_code is not None:
            break
        elif event == "dies":
            house.dies(child, chance.choice([0, 1, -9, -11]))
        else:
            house.says_something(child, chance)
    house.lifecycle.signal(signal.SIGTERM)
    for _ in range(10):
        for child in [child for child in house.children if not child.reaped]:
            if child.killed or child.heard_of(Drain):
                house.dies(child, child.status)
        house.passes(20.0)
    assert house.lifecycle.exit_code is not None, [child for child in house.children if not child.reaped]
    assert all(child.reaped for child in house.children)
