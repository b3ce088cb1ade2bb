"""Histories of children that start, die and are told to stop, replayed without a process and without waiting."""

import random
import signal

import pytest

from shm.in_flight import TextsInFlight
from shm.messages import BootFailure, Connect, Disconnect, Distrust, Drain, Started
from supervisor.processes.children import DUMP_GRACE, KILL_GRACE
from supervisor.processes.errands import Errand
from supervisor.processes.lifecycle import Changes
from supervisor.processes.roles import RETRIES
from supervisor.processes.standing import ExitCode, Phase
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import ESPEAK, KOKORO, House

MAX_DEATHS = SupervisorSettings().max_deaths
APART = SupervisorSettings().death_window / (MAX_DEATHS - 1)
"""Seconds between deaths that last for the whole window."""


@pytest.mark.parametrize("order", ["front first", "worker first"])
def test_both_are_joined_by_one_channel_whoever_is_ready_first(house: House, order: str) -> None:
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


def test_a_dead_worker_is_replaced_at_once_and_the_front_hears_of_both(house: House) -> None:
    front, worker = house.up()
    house.dies(worker)
    assert front.heard_of(Disconnect) == [Disconnect(worker.generation)]
    house.passes(0.05)
    successor = house.newest("worker")
    assert successor is not worker
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation
    assert front.situation.restarts == {"front": 0, "worker": 1, "player": 0, "books": 0}


def test_a_dead_front_gets_a_fresh_channel_to_the_same_worker(house: House) -> None:
    front, worker = house.up()
    reborn = house.reborn(front, 0.05)
    house.lifecycle.message(reborn, Started())
    assert house.count("worker") == 1, "the worker keeps its model"
    assert [m.generation for m in worker.heard_of(Connect)] == [worker.generation] * 2
    assert [m.generation for m in reborn.heard_of(Connect)] == [worker.generation]
    assert house.listening


@pytest.mark.parametrize("state", ["backoff", "starting", "running", "fatal"])
def test_a_new_front_hears_of_the_engine_that_returns(house: House, state: str) -> None:
    """Front and worker die together, and the front is back first: its requests wait, unless the wait is long."""
    house.up(KOKORO)
    for _ in range(MAX_DEATHS if state == "fatal" else 1):
        house.dies(house.newest("worker"))
        house.passes({"backoff": 0.0, "fatal": APART}.get(state, 0.1))
    house.dies(house.newest("front"))
    if state == "running":
        house.ready(house.newest("worker"), KOKORO)
    house.passes(0.0)
    reborn = house.newest("front")
    house.lifecycle.message(reborn, Started())
    told = reborn.situation
    assert told.worker_state == ("starting" if state == "backoff" else state)
    assert told.returning == ({} if state in ("running", "fatal") else {0: KOKORO})


def test_a_front_that_keeps_dying_ends_the_server_with_its_own_status(house: House) -> None:
    house.up()
    for _ in range(MAX_DEATHS):
        house.dies(house.newest("front"))
        house.passes(APART)
    worker = house.newest("worker")
    assert worker.heard_of(Drain)
    house.dies(worker, 0)
    assert house.lifecycle.exit_code is ExitCode.CRASH_LOOP


def test_a_worker_that_cannot_start_at_boot_ends_the_server(house: House) -> None:
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    house.lifecycle.message(worker, BootFailure("engine", "no model"))
    house.dies(worker, 1)
    house.dies(front)
    assert house.lifecycle.exit_code is ExitCode.ENGINE
    assert house.count("worker") == 1


def test_a_worker_that_cannot_start_again_leaves_the_reason_with_the_front(house: House) -> None:
    front, worker = house.up(KOKORO)
    again = house.reborn(worker, 0.05)
    house.lifecycle.message(again, BootFailure("engine", "the model is gone"))
    house.dies(again, 1)
    house.passes(RETRIES[0] - 1.0)
    told = front.situation
    assert (told.worker_state, told.reason) == ("fatal", "the model is gone")
    assert told.restarts == {"front": 0, "worker": 1, "player": 0, "books": 0}
    assert house.count("worker") == 2 and house.lifecycle.exit_code is None


def test_a_worker_that_hangs_is_replaced_at_once_and_killed_when_it_has_left_its_stacks(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation, "it hangs"))
    assert worker.dumped and not worker.killed
    house.passes(0.05)
    assert house.newest("worker") is not worker, "nobody waits for its end"
    house.passes(DUMP_GRACE)
    assert worker.killed
    house.ready(house.newest("worker"))
    house.dies(worker)
    assert front.situation.restarts["worker"] == 1, "one death, not two"


def test_a_death_that_the_front_sees_first_counts_once(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation, "the other end closed"))
    house.dies(worker)
    house.passes(1.0)
    assert house.count("worker") == 2
    assert front.situation.restarts["worker"] == 1


def test_distrust_of_a_generation_that_is_gone_hurts_nobody(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(front, Distrust(worker.generation + 100, "late"))
    assert not worker.killed


def test_a_front_that_does_not_listen_is_killed(house: House) -> None:
    front, worker = house.up()
    front.deaf = True
    house.dies(worker)
    assert front.killed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_the_front_first_and_then_the_worker(house: House, number: int) -> None:
    front, worker = house.up()
    house.lifecycle.signal(number)
    assert not house.listening
    assert front.heard_of(Drain) and not worker.heard_of(Drain), "streams still need the worker"
    house.dies(front, 0)
    assert worker.heard_of(Drain)
    assert house.lifecycle.exit_code is None
    house.dies(worker, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


def test_draining_is_bounded(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.passes(10.0 + KILL_GRACE - 0.1)
    assert not front.killed
    house.passes(0.2)
    assert front.killed
    house.dies(front)
    house.passes(KILL_GRACE + 0.1)
    assert worker.killed


def test_a_second_interrupt_ends_at_once(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGINT)
    house.lifecycle.signal(signal.SIGINT)
    assert front.killed and worker.killed
    house.dies(front)
    house.dies(worker)
    assert house.lifecycle.exit_code is ExitCode.INTERRUPTED


def test_a_second_sigterm_changes_nothing(house: House) -> None:
    front, _ = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.lifecycle.signal(signal.SIGTERM)
    assert not front.killed and len(front.heard_of(Drain)) == 1


def test_a_worker_that_dies_while_the_front_drains_is_replaced_for_the_streams_that_are_left(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    successor = house.reborn(worker, 0.05)
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation
    house.dies(front, 0)
    assert successor.heard_of(Drain)
    house.dies(successor, 0)
    assert house.lifecycle.exit_code is ExitCode.OK


def test_a_front_that_dies_while_draining_is_not_replaced(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front)
    house.dies(worker, 0)
    house.passes(5.0)
    assert house.count("front") == house.count("worker") == 1
    assert house.lifecycle.exit_code is ExitCode.OK


@pytest.mark.parametrize("state", ["starting", "backoff"])
def test_a_signal_before_anything_serves_ends_with_0(house: House, state: str) -> None:
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


@pytest.mark.parametrize("seed", range(60))
def test_any_history_ends_when_it_is_told_to(seed: int) -> None:
    """Random events in any state: no transition is asserted wrong, and SIGTERM always ends it with 0."""
    chance = random.Random(seed)
    house = House(
        fetch=chance.random() < 0.5,
        standby=chance.choice(["off", "imported", "loaded"]),
        workers=chance.choice([1, 1, 2, 3]),
        errands=chance.choice([(), (Errand("trial", "tried", "being tried", 20.0, "p"),)]),
    )
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
        elif message := child.something_to_say(chance, [each.generation for each in house.all("worker")]):
            house.lifecycle.message(child, message)
    house.lifecycle.signal(signal.SIGTERM)
    for _ in range(10):
        for child in [child for child in house.children if not child.reaped]:
            if child.killed or child.heard_of(Drain):
                house.dies(child, child.status)
        house.passes(20.0)
    assert house.lifecycle.exit_code is not None, [child for child in house.children if not child.reaped]
    assert all(child.reaped for child in house.children)


def test_answers_that_a_dead_front_had_begun_are_counted_as_cut(house: House) -> None:
    front, _ = house.up()
    front.in_flight = TextsInFlight(begun=3)
    house.dies(front)
    house.passes(0.1)
    house.lifecycle.message(house.newest("front"), Started())
    told = house.newest("front").situation
    assert told.streams_cut == 3


def phases(house: House) -> list[Phase]:
    """Each once, in order."""
    seen: list[Phase] = []
    for standing in house.standings:
        if not seen or seen[-1] is not standing.phase:
            seen.append(standing.phase)
    return seen


def test_it_serves_when_the_front_accepts_and_an_engine_speaks(house: House) -> None:
    house.lifecycle.start()
    house.lifecycle.message(house.newest("front"), Started())
    assert phases(house) == [Phase.STARTING]
    assert house.standings[-1].summary == "the worker is starting"
    house.ready(house.newest("worker"), KOKORO)
    assert phases(house) == [Phase.STARTING, Phase.SERVING]
    assert house.standings[-1].summary == "speaking with kokoro (m.onnx, CPUExecutionProvider)"


def test_a_restart_is_told_and_is_no_new_start(house: House) -> None:
    _, worker = house.up()
    speaking = house.standings[-1].summary
    house.dies(worker)
    assert house.standings[-1].summary == "the worker is being restarted"
    house.passes(0.1)
    house.ready(house.newest("worker"))
    assert house.standings[-1].summary == speaking
    assert phases(house) == [Phase.STARTING, Phase.SERVING]


def test_nothing_is_told_twice(house: House) -> None:
    house.up()
    told = len(house.standings)
    house.passes(10)
    assert len(house.standings) == told


def test_a_reload_lasts_until_what_takes_over_is_there(house: House) -> None:
    house.up()
    house.changes = Changes(front=True, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    assert phases(house)[-1] is Phase.RELOADING
    house.ready(house.newest("worker"), KOKORO)
    assert phases(house)[-1] is Phase.RELOADING, "the front is still to come"
    house.lifecycle.message(house.newest("front"), Started())
    assert phases(house) == [Phase.STARTING, Phase.SERVING, Phase.RELOADING, Phase.SERVING]


def test_a_reload_whose_successor_dies_is_over(house: House) -> None:
    house.up()
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    house.dies(house.newest("front"))
    assert phases(house)[-1] is Phase.SERVING


def test_a_reload_that_changes_nothing_is_none(house: House) -> None:
    house.up()
    house.lifecycle.signal(signal.SIGHUP)
    house.passes(1)
    assert Phase.RELOADING not in phases(house)


def test_an_engine_that_cannot_be_loaded_is_the_reason_of_the_end(house: House) -> None:
    house.lifecycle.start()
    house.lifecycle.message(house.newest("worker"), BootFailure("engine", "no model: fetch it"))
    assert phases(house) == [Phase.STARTING, Phase.DRAINING]
    assert house.standings[-1].summary == "no model: fetch it"
