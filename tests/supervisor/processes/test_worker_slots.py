"""Several workers, each in a slot with a life of its own, replayed without a process."""

import signal
from typing import Literal

import msgspec
import pytest

from shm.engine_info import Priority
from shm.messages import (
    BootFailure,
    Connect,
    Disconnect,
    Distrust,
    Drain,
    Idle,
    Load,
    Placed,
    ProviderFailure,
    Recycle,
    Started,
)
from shm.situation import ProcessReport
from supervisor.processes.lifecycle import Changes
from supervisor.processes.metrics import SupervisorMetrics
from supervisor.processes.roles import RETRIES
from supervisor.processes.standing import ExitCode, Phase
from supervisor.processes.workers import FIRST_ALONE, SETTLED
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import ESPEAK, KOKORO, FakeChild, House

MAX_DEATHS = SupervisorSettings().max_deaths
APART = SupervisorSettings().death_window / (MAX_DEATHS - 1)
"""Seconds between deaths that last for the whole window."""
CUDA = msgspec.structs.replace(KOKORO, provider="CUDAExecutionProvider")


def both_up(
    standby: Literal["off", "imported", "loaded"] = "off", accelerated: bool = False
) -> tuple[House, FakeChild, FakeChild, FakeChild]:
    """The house, its front, and two workers that speak."""
    house = House(workers=2, standby=standby)
    front, first = house.up(CUDA if accelerated else KOKORO)
    second = house.newest("worker")
    house.ready(second, KOKORO)
    return house, front, first, second


def workers(front: FakeChild) -> list[ProcessReport]:
    return [report for report in front.situation.processes if report.role == "worker"]


def test_the_server_can_speak_when_the_first_of_them_can() -> None:
    house = House(workers=2)
    front, _ = house.up(KOKORO)
    assert front.situation.worker_state == "running"
    assert house.standings[-1].phase is Phase.SERVING
    assert house.standings[-1].summary.endswith("1 of 2 workers")
    house.ready(house.newest("worker"), KOKORO)
    assert [(report.slot, report.state) for report in workers(front)] == [(0, "running"), (1, "running")]


def test_a_front_that_comes_later_gets_a_channel_to_each() -> None:
    house, front, first, second = both_up()
    reborn = house.reborn(front, 0.1)
    house.lifecycle.message(reborn, Started())
    assert [m.generation for m in reborn.heard_of(Connect)] == [first.generation, second.generation]


def test_one_that_dies_is_started_again_in_its_slot_while_the_other_speaks() -> None:
    house, front, first, second = both_up()
    house.dies(second)
    assert front.situation.worker_state == "running", "the other one speaks"
    assert front.heard_of(Disconnect) == [Disconnect(second.generation)]
    house.passes(0.05)
    again = house.newest("worker")
    assert again.heard_of(Load) == [Load(slot=1, slots=2, proven=KOKORO)]
    house.ready(again, KOKORO)
    assert front.heard_of(Connect)[-1].slot == 1
    assert front.situation.restarts == {"front": 0, "worker": 1, "player": 0, "books": 0}
    assert not first.heard_of(Drain)


def test_both_that_die_at_once_are_started_again_and_the_one_standby_serves_one() -> None:
    house, front, first, second = both_up("imported")
    standby = house.newest("worker")
    house.dies(first)
    house.dies(second)
    assert front.situation.worker_state == "backoff"
    house.passes(0.05)
    other = house.newest("worker")
    assert other is not standby
    assert [m.slot for child in (standby, other) for m in child.heard_of(Load)] == [0, 1]
    house.ready(other, KOKORO)
    assert front.situation.worker_state == "running"
    assert house.count("worker") == 4, "a standby is started when both are there again"
    house.ready(standby, KOKORO)
    house.passes(SETTLED)
    assert house.count("worker") == 5


def test_a_crash_loop_of_one_is_reported_and_the_other_goes_on() -> None:
    house, front, _, second = both_up("imported")
    dying = second
    for _ in range(MAX_DEATHS):
        house.dies(dying)
        house.passes(APART)
        latest = [child for child in house.all("worker") if any(load.slot for load in child.heard_of(Load))]
        dying = latest[-1]
    assert [report.state for report in workers(front)] == ["running", "fatal"]
    assert front.situation.worker_state == "running" and house.lifecycle.exit_code is None
    assert any(report.role == "standby" for report in front.situation.processes), "for the one that is left"
    metrics = SupervisorMetrics(None)
    metrics.follow(front.situation)
    assert metrics.registry.get_sample_value("kokoro_live_process_up", {"process": "worker"}) == 1
    restarts = metrics.registry.get_sample_value("kokoro_live_process_restarts_total", {"process": "worker"})
    assert restarts == MAX_DEATHS - 1


def test_a_crash_loop_of_both_leaves_the_front_with_the_reason() -> None:
    house, front, _, _ = both_up()
    for _ in range(MAX_DEATHS):
        for child in [child for child in house.all("worker") if not child.reaped]:
            house.dies(child)
        house.passes(APART)
    assert front.situation.worker_state == "fatal" and "keeps dying" in front.situation.reason
    assert house.lifecycle.exit_code is None


def test_one_that_can_never_start_does_not_end_the_server_and_both_do() -> None:
    house = House(workers=2)
    house.lifecycle.start()
    front, first = house.newest("front"), house.newest("worker")
    house.lifecycle.message(front, Started())
    house.lifecycle.message(first, BootFailure("engine", "no memory"))
    house.dies(first, 1)
    house.passes(RETRIES[0] - 1.0)
    assert house.lifecycle.exit_code is None and front.situation.worker_state == "starting"
    second = house.newest("worker")
    house.lifecycle.message(second, BootFailure("engine", "no model"))
    house.dies(second, 1)
    house.dies(front, 0)
    assert house.lifecycle.exit_code is ExitCode.ENGINE


def test_new_settings_start_one_again_that_was_given_up() -> None:
    house = House(workers=2)
    front, first = house.up(KOKORO)
    second = house.newest("worker")
    house.lifecycle.message(second, BootFailure("engine", "no memory"))
    house.dies(second, 1)
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    for worker in [child for child in house.all("worker") if child not in (first, second)]:
        house.ready(worker, KOKORO)
    house.ready(house.newest("worker"), KOKORO)
    assert [report.state for report in workers(front) if report.state != "draining"] == ["running", "running"]


def test_a_reload_replaces_one_after_another() -> None:
    house, front, first, second = both_up("imported")
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    before = house.count("worker")
    successor = house.newest("worker")
    assert successor.heard_of(Load) == [Load(slot=0, slots=2)] and not second.heard_of(Drain)
    house.ready(successor, KOKORO)
    assert house.count("worker") == before + 1, "now the other's"
    assert front.heard_of(Disconnect) == [Disconnect(first.generation, draining=True)]
    assert house.standings[-1].phase is Phase.RELOADING
    other = house.newest("worker")
    assert other.heard_of(Load) == [Load(slot=1, slots=2)]
    house.ready(other, KOKORO)
    assert house.standings[-1].phase is Phase.SERVING
    assert {m.generation for m in front.heard_of(Disconnect)} == {first.generation, second.generation}
    for old in (first, second):
        house.lifecycle.message(front, Idle(old.generation))
        assert old.heard_of(Drain)


def test_a_reload_goes_on_when_a_successor_dies_and_spares_who_has_just_been_started() -> None:
    house, _, _, second = both_up()
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    successor = house.newest("worker")
    restarted = house.reborn(second, 0.05)
    house.ready(restarted, KOKORO)
    house.dies(successor)
    house.passes(0.05)
    assert house.newest("worker") is restarted, "it has the new settings already"
    assert house.standings[-1].phase is Phase.SERVING


def test_one_that_hangs_during_a_reload_is_not_replaced_twice() -> None:
    house, front, _, second = both_up()
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    successor = house.newest("worker")
    house.lifecycle.message(front, Distrust(second.generation, "it hangs"))
    house.passes(0.05)
    restarted = house.newest("worker")
    house.ready(restarted, KOKORO)
    house.ready(successor, KOKORO)
    assert house.newest("worker") is restarted
    assert house.standings[-1].phase is Phase.SERVING


def test_a_successor_that_loads_for_all_cores_is_let_go_when_the_first_needs_its_own() -> None:
    house, _, first, _ = both_up()
    house.lifecycle.message(first, Recycle("too large"))
    on_cuda = house.newest("worker")
    house.ready(on_cuda, CUDA)
    stale = house.newest("worker")
    assert stale.heard_of(Load) == [Load(slot=1, slots=2, accelerated=True)]
    house.lifecycle.message(on_cuda, ProviderFailure("CUDAExecutionProvider", "gone"))
    house.passes(0.05)
    house.ready(house.newest("worker"), KOKORO)
    house.passes(1.0)
    assert stale.killed
    assert house.newest("worker").heard_of(Load)[-1].accelerated is False


def test_what_is_starting_at_a_reload_is_replaced_when_it_speaks(house: House) -> None:
    house.lifecycle.start()
    front, stale = house.newest("front"), house.newest("worker")
    house.lifecycle.message(front, Started())
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    assert house.count("worker") == 1
    house.ready(stale, KOKORO)
    assert house.count("worker") == 2, "it was started with the old settings"


def test_a_second_reload_does_not_keep_what_loads_for_the_first(house: House) -> None:
    house.up(KOKORO)
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    stale = house.newest("worker")
    house.lifecycle.signal(signal.SIGHUP)
    house.passes(1.0)
    assert stale.killed and house.newest("worker") is not stale


def test_one_that_has_grown_is_replaced_alone() -> None:
    house, _, _, second = both_up()
    house.lifecycle.message(second, Recycle("too large"))
    assert house.count("worker") == 3
    assert house.newest("worker").heard_of(Load) == [Load(slot=1, slots=2)]
    house.ready(house.newest("worker"), KOKORO)
    assert house.count("worker") == 3


def test_one_that_hangs_is_condemned_and_not_the_other() -> None:
    house, front, first, second = both_up()
    house.lifecycle.message(front, Distrust(second.generation, "it hangs"))
    house.passes(1.0)
    assert second.killed and not first.killed


def test_the_others_wait_for_the_first_but_not_for_ever() -> None:
    house = House(workers=3)
    house.lifecycle.start()
    house.passes(FIRST_ALONE - 0.1)
    assert house.count("worker") == 1
    house.passes(0.2)
    assert [m.slot for child in house.all("worker")[1:] for m in child.heard_of(Load)] == [1, 2]


def test_beside_an_accelerator_the_others_have_the_cores() -> None:
    _, _, first, second = both_up(accelerated=True)
    assert [m.accelerated for m in first.heard_of(Load)] == [False, True], "nobody knew before it spoke"
    assert [m.accelerated for m in second.heard_of(Load)] == [True]


def test_an_accelerator_that_fails_takes_its_own_slot_down_and_the_cores_are_divided_again() -> None:
    house, front, first, second = both_up(accelerated=True)
    house.lifecycle.message(first, ProviderFailure("CUDAExecutionProvider", "out of memory"))
    assert front.situation.worker_state == "running"
    house.passes(0.05)
    without = ("CUDAExecutionProvider",)
    again = house.newest("worker")
    assert again.heard_of(Load) == [Load(without, slot=0, slots=2)]
    house.ready(again, KOKORO)
    other = house.newest("worker")
    assert other.heard_of(Load) == [Load(without, slot=1, slots=2)]
    house.ready(other, KOKORO)
    assert front.heard_of(Disconnect)[-1] == Disconnect(second.generation, draining=True)


def test_a_standby_that_has_loaded_serves_the_slot_that_is_like_it() -> None:
    house, _, _, second = both_up("loaded", accelerated=True)
    standby = house.newest("worker")
    assert standby.heard_of(Load) == [Load(standby=True, slot=0, slots=2)]
    house.ready(standby, CUDA)
    house.dies(second)
    house.passes(0.05)
    assert len(standby.heard_of(Load)) == 1, "it has the accelerator's sessions"
    assert house.newest("worker").heard_of(Load) == [Load(slot=1, slots=2, accelerated=True, proven=KOKORO)]


def test_a_standby_that_has_loaded_moves_to_another_slot_of_the_same_kind() -> None:
    house, front, _, second = both_up("loaded")
    standby = house.newest("worker")
    house.ready(standby, KOKORO)
    house.dies(second)
    house.passes(0.05)
    assert standby.heard_of(Load)[-1] == Load(slot=1, slots=2, proven=KOKORO)
    assert (front.heard_of(Connect)[-1].generation, front.heard_of(Connect)[-1].slot) == (standby.generation, 1)


def test_a_drain_ends_both_when_the_front_has_gone() -> None:
    house, front, first, second = both_up("imported")
    standby = house.newest("worker")
    house.lifecycle.signal(signal.SIGTERM)
    assert standby.killed and not first.heard_of(Drain) and not second.heard_of(Drain)
    successor = house.reborn(second, 0.05)
    house.ready(successor, KOKORO)
    assert front.heard_of(Connect)[-1].generation == successor.generation, "streams are left"
    house.dies(front, 0)
    assert first.heard_of(Drain) and successor.heard_of(Drain)
    for child in (standby, first, successor):
        house.dies(child, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


def test_who_speaks_is_said_once() -> None:
    house, *_ = both_up(accelerated=True)
    assert [ready.engine.provider for ready in house.announced] == ["CUDAExecutionProvider"]


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
