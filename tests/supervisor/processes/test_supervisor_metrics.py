"""The supervisor's counts (restarts, refused providers, roles that are up), and its reports on processes."""

import signal
from itertools import pairwise

from shm.messages import Heartbeat, Recycle
from shm.situation import ProcessReport, Situation
from supervisor.processes.metrics import SupervisorMetrics
from tests.supervisor.fakes import KOKORO, House


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
