"""Generations that follow one another while streams go on: standbys, successors, settings, providers."""

import signal
from itertools import pairwise

import msgspec
import pytest

from shm.engine_info import EngineInfo
from shm.messages import (
    ChildProgress,
    Connect,
    Disconnect,
    Drain,
    Heartbeat,
    Idle,
    Load,
    ProviderFailure,
    Recycle,
    Started,
)
from shm.situation import ProcessReport, Situation
from supervisor.processes.lifecycle import Changes
from supervisor.processes.metrics import SupervisorMetrics
from supervisor.processes.workers import SETTLED
from tests.supervisor.fakes import KOKORO, FakeChild, House

ACCELERATED = msgspec.structs.replace(KOKORO, provider="CoreMLExecutionProvider")


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
    front, worker = house.up(KOKORO)
    standby = house.newest("worker")
    assert standby is not worker and not standby.heard
    house.dies(worker)
    house.passes(0.05)
    assert [load.proven for load in standby.heard_of(Load)] == [KOKORO] and house.count("worker") == 2
    house.ready(standby)
    assert front.heard_of(Connect)[-1].generation == standby.generation
    assert house.count("worker") == 2, "those who have waited have all cores"
    house.lifecycle.message(standby, ChildProgress())
    assert house.count("worker") == 3


def test_no_standby_is_started_beside_the_first_requests() -> None:
    house = House(standby="imported")
    house.lifecycle.start()
    house.lifecycle.message(house.newest("front"), Started())
    house.ready(house.newest("worker"))
    house.passes(SETTLED - 0.1)
    assert house.count("worker") == 1
    house.passes(0.2)
    assert house.count("worker") == 2


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
    assert not front.heard_of(Disconnect) and front.situation.restarts["worker"] == 0


def test_a_worker_that_has_grown_is_replaced_when_another_is_ready() -> None:
    house = House(standby="imported")
    front, worker = house.up(KOKORO)
    standby = house.newest("worker")
    house.lifecycle.message(worker, Recycle("too large"))
    assert [load.proven for load in standby.heard_of(Load)] == [None], "nobody waits for it: it warms up"
    assert not front.heard_of(Disconnect)
    house.ready(standby)
    assert front.heard_of(Disconnect) == [Disconnect(worker.generation, draining=True)]
    house.lifecycle.message(front, Idle(worker.generation))
    assert worker.heard_of(Drain)


def test_a_provider_that_fails_is_left_out_by_the_next_generation(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(worker, ProviderFailure("CUDAExecutionProvider", "out of memory"))
    house.passes(0.05)
    successor = house.newest("worker")
    assert successor.heard_of(Load) == [Load(("CUDAExecutionProvider",))]
    house.dies(worker, 1)
    house.ready(successor)
    told = front.situation
    assert told.provider_failures == {"CUDAExecutionProvider": "out of memory"}
    assert told.restarts["worker"] == 0, "it is no crash"


def test_a_successor_whose_provider_fails_is_followed_by_one_without_it() -> None:
    house = House(fetch=True)
    front, espeak = house.up()
    house.dies(house.newest("fetcher"), 0)
    failing = house.newest("worker")
    house.lifecycle.message(failing, ProviderFailure("CUDAExecutionProvider", "out of memory"))
    house.dies(failing, 1)
    kokoro = house.newest("worker")
    assert kokoro.heard_of(Load) == [Load(("CUDAExecutionProvider",))]
    house.ready(kokoro, KOKORO)
    assert front.heard_of(Disconnect) == [Disconnect(espeak.generation, draining=True)]


def test_a_loaded_standby_on_a_failed_provider_is_not_used() -> None:
    house = House(standby="loaded")
    _front, worker = house.up()
    standby = house.newest("worker")
    house.ready(standby)
    house.lifecycle.message(worker, ProviderFailure("CoreMLExecutionProvider", "no"))
    house.passes(1.0)
    assert standby.killed
    assert house.newest("worker").heard_of(Load) == [Load(("CoreMLExecutionProvider",))]


def test_a_provider_that_fails_at_the_first_start_is_left_out_too(house: House) -> None:
    house.lifecycle.start()
    worker = house.newest("worker")
    house.lifecycle.message(worker, ProviderFailure("CUDAExecutionProvider", "missing"))
    house.dies(worker, 1)
    house.passes(0.05)
    assert house.newest("worker").heard_of(Load) == [Load(("CUDAExecutionProvider",))]


def on_an_accelerator() -> tuple[House, FakeChild, FakeChild]:
    house = House()
    return house, *house.up(ACCELERATED)


def dies_and_comes_up_again(
    house: House, worker: FakeChild, status: int, engine: EngineInfo = ACCELERATED
) -> FakeChild:
    house.dies(worker, status)
    house.passes(5.0)
    successor = house.newest("worker")
    assert successor is not worker
    house.ready(successor, engine)
    return successor


def test_a_provider_whose_workers_crash_is_left_out_after_the_second_time() -> None:
    house, front, worker = on_an_accelerator()
    worker = dies_and_comes_up_again(house, worker, -signal.SIGSEGV)
    assert worker.heard_of(Load) == [Load()]
    worker = dies_and_comes_up_again(house, worker, -signal.SIGABRT)
    assert worker.heard_of(Load) == [Load((ACCELERATED.provider,))]
    told = front.situation
    assert "SIGABRT" in told.provider_failures[ACCELERATED.provider]


def test_workers_that_others_kill_say_nothing_of_their_provider() -> None:
    house, _, worker = on_an_accelerator()
    for _ in range(3):
        worker = dies_and_comes_up_again(house, worker, -signal.SIGKILL)
        house.passes(60.0)
    assert worker.heard_of(Load) == [Load()]


def test_the_cpu_is_never_given_up(house: House) -> None:
    _, worker = house.up(KOKORO)
    for _ in range(3):
        worker = dies_and_comes_up_again(house, worker, -signal.SIGSEGV, KOKORO)
        house.passes(60.0)
    assert worker.heard_of(Load) == [Load(proven=KOKORO)]


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
    assert front.situation.restarts == {"front": 0, "worker": 0, "player": 0, "books": 0}


def test_a_worker_that_two_fronts_use_ends_when_both_have_let_it_go(house: House) -> None:
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


def test_settings_that_did_not_change_change_nothing(house: House) -> None:
    front, _worker = house.up()
    house.lifecycle.signal(signal.SIGHUP)
    assert len(house.children) == 2 and not front.heard_of(Drain)


def test_a_front_that_was_starting_at_a_reload_is_replaced_when_it_serves(house: House) -> None:
    house.lifecycle.start()
    stale = house.newest("front")
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    assert house.count("front") == 1
    house.lifecycle.message(stale, Started())
    assert house.count("front") == 2, "it was started with the old settings"
    house.lifecycle.message(house.newest("front"), Started())
    assert stale.heard_of(Drain)


def test_a_hangup_while_stopping_is_ignored(house: House) -> None:
    house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.changes = Changes(front=True, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    assert len(house.children) == 2


def value(metrics: SupervisorMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"kokoro_live_{name}", labels)


def test_restarts_are_counted_once_however_often_they_are_told() -> None:
    metrics = SupervisorMetrics(None)
    for restarts in ({"front": 0, "worker": 2}, {"front": 0, "worker": 2}, {"front": 1, "worker": 3}):
        metrics.follow(Situation("running", "", restarts))
    assert value(metrics, "process_restarts_total", process="worker") == 3
    assert value(metrics, "process_restarts_total", process="front") == 1


def test_a_provider_that_fails_again_after_a_new_try_counts_again() -> None:
    metrics = SupervisorMetrics(None)
    gone = {"CUDAExecutionProvider": "gone"}
    for failures in (gone, gone, {}, gone):
        metrics.follow(Situation("running", "", {}, failures))
    assert value(metrics, "provider_failures_total", provider="CUDAExecutionProvider") == 2


def test_a_role_is_up_while_its_process_serves() -> None:
    metrics = SupervisorMetrics(None)
    for state, up in (("starting", 0), ("running", 1), ("backoff", 0)):
        standby = ProcessReport(role="standby", state="running", generation=3)
        metrics.follow(Situation(state, "", {}, {}, (ProcessReport(role="worker", state=state, restarts=0), standby)))
        assert value(metrics, "process_up", process="worker") == up
    assert value(metrics, "process_up", process="standby") is None


class Watched(House):
    """Keeps what the lifecycle says of its processes."""

    situations: tuple[Situation, ...] = ()

    def situation(self, situation: Situation) -> None:
        self.situations += (situation,)

    def roles(self) -> dict[str, list[ProcessReport]]:
        reports = self.situations[-1].processes
        return {each.role: [other for other in reports if other.role == each.role] for each in reports}


def test_processes_are_reported_from_the_start_on_with_the_end_of_those_that_died() -> None:
    house = Watched()
    front, worker = house.up(KOKORO)
    (reported,) = house.roles()["worker"]
    assert (reported.state, reported.pid, reported.generation) == ("running", worker.pid, worker.generation)
    assert (reported.load_seconds, reported.started, reported.restarts, reported.last_exit) == (0.1, 100.0, 0, "")
    house.now += 7
    house.dies(worker, -signal.SIGKILL)
    (reported,) = house.roles()["worker"]
    assert (reported.state, reported.pid, reported.restarts) == ("backoff", None, 1)
    assert (reported.last_exit, reported.last_exit_at) == ("SIGKILL", 107.0)
    assert house.situations[-1] in front.heard


def test_a_standby_and_a_worker_that_finishes_its_streams_are_reported_beside_the_one_that_speaks() -> None:
    house = Watched(standby="loaded")
    _, old = house.up(KOKORO)
    assert [each.state for each in house.roles()["standby"]] == ["starting"]
    standby = house.newest("worker")
    house.lifecycle.message(standby, Heartbeat())
    assert [each.state for each in house.roles()["standby"]] == ["imported"]
    house.ready(standby, KOKORO)
    assert [each.state for each in house.roles()["standby"]] == ["loaded"]
    house.lifecycle.message(old, Recycle("too large"))
    states = {each.generation: each.state for each in house.roles()["worker"]}
    assert states == {standby.generation: "running", old.generation: "draining"}


def test_nothing_is_told_twice_in_a_row() -> None:
    house = Watched()
    house.up(KOKORO)
    house.passes(30)
    assert all(one != other for one, other in pairwise(house.situations))
