"""Workers that load, with a deadline, and workers that rest because nobody asks: replayed without a process."""

import signal

import msgspec
import pytest

from shm.messages import ChildReady, Connect, Disconnect, Drain, Idle, Load, Loading, Started, WorkersNeeded
from supervisor.processes.lifecycle import Changes
from supervisor.processes.standing import ExitCode
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import ESPEAK, KOKORO, FakeChild, House


def resting(house: House) -> tuple[FakeChild, FakeChild]:
    """A server whose only worker has ended, because its front needed none: (front, the ended worker)."""
    front, worker = house.up(KOKORO)
    house.passes(0.1)
    house.lifecycle.message(front, WorkersNeeded(False))
    house.lifecycle.message(front, Idle(worker.generation))
    assert worker.heard_of(Drain)
    house.dies(worker, 0)
    return front, worker


def test_a_worker_that_nobody_needs_ends_after_its_front_has_released_it(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(front, WorkersNeeded(False))
    assert front.heard_of(Disconnect) == [Disconnect(worker.generation, draining=True)]
    assert not worker.heard_of(Drain), "a stream that has just come may need it"
    house.lifecycle.message(front, Idle(worker.generation))
    assert worker.heard_of(Drain)
    house.dies(worker, 0)
    house.passes(60)
    assert house.count("worker") == 1, "nobody asked for another"
    assert front.situation.worker_state == "resting"
    assert front.situation.restarts["worker"] == 0
    assert front.situation.reason == "", "/ready stays 200"
    assert house.standings[-1].summary == "resting: the next request starts the engine"


def test_the_imported_standby_takes_the_next_request() -> None:
    house = House(standby="imported")
    front, worker = resting(house)
    standby = house.newest("worker")
    assert standby is not worker and not standby.heard_of(Load)
    house.lifecycle.message(front, WorkersNeeded(True))
    house.passes(0.1)
    assert standby.heard_of(Load)
    assert front.situation.reason == "", "the request waits, and the server is as ready as before"
    house.ready(standby, KOKORO)
    assert front.heard_of(Connect)[-1].generation == standby.generation
    assert front.situation.worker_state == "running"


def test_a_loaded_standby_gives_its_memory_back_too() -> None:
    house = House(standby="loaded")
    front, worker = house.up(KOKORO)
    house.passes(0.1)
    loaded = house.newest("worker")
    house.ready(loaded, KOKORO)
    house.lifecycle.message(front, WorkersNeeded(False))
    house.passes(1.0)
    assert loaded.killed
    house.dies(loaded)
    house.lifecycle.message(front, Idle(worker.generation))
    house.dies(worker, 0)
    house.passes(10.0)
    imported = house.newest("worker")
    assert imported is not loaded and not imported.heard_of(Load)


def test_a_front_that_was_started_since_knows_the_resting_engine(house: House) -> None:
    front, _ = resting(house)
    reborn = house.reborn(front, 0.1)
    house.lifecycle.message(reborn, Started())
    assert reborn.situation.returning == {0: KOKORO}
    house.lifecycle.message(reborn, WorkersNeeded(True))
    house.ready(house.newest("worker"), KOKORO)
    assert reborn.heard_of(Connect)
    assert not reborn.situation.returning


def test_a_request_during_the_end_of_the_worker_starts_another(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(front, WorkersNeeded(False))
    house.lifecycle.message(front, WorkersNeeded(True))
    successor = house.newest("worker")
    assert successor is not worker
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation


def test_a_front_that_finishes_its_streams_keeps_the_worker(house: House) -> None:
    _, worker = house.up()
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    successor = house.newest("front")
    house.lifecycle.message(successor, Started())
    house.lifecycle.message(successor, WorkersNeeded(False))
    assert not successor.heard_of(Disconnect)
    assert not worker.heard_of(Drain)


@pytest.mark.parametrize("workers", [1, 2])
def test_changed_settings_are_tried_at_once(workers: int) -> None:
    house = House(workers=workers)
    front, first = house.up()
    for child in house.all("worker")[1:]:
        house.ready(child)
    house.lifecycle.message(front, WorkersNeeded(False))
    ended = house.all("worker")
    for child in ended:
        house.lifecycle.message(front, Idle(child.generation))
        house.dies(child, 0)
    house.changes = Changes(front=False, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    house.passes(0.1)
    assert house.newest("worker") not in ended, "the engine may be another one now, and its name is told"
    assert first in ended
    for child in house.all("worker"):
        if child not in ended:
            house.ready(child)
    assert house.count("worker") == 2 * workers, "they were woken with the new settings already"


def test_several_workers_rest_and_wake_together() -> None:
    house = House(workers=2)
    front, first = house.up()
    second = house.newest("worker")
    house.ready(second)
    house.lifecycle.message(front, WorkersNeeded(False))
    for child in (first, second):
        house.lifecycle.message(front, Idle(child.generation))
        house.dies(child, 0)
    assert front.situation.returning == {0: ESPEAK, 1: ESPEAK}
    house.lifecycle.message(front, WorkersNeeded(True))
    assert house.count("worker") == 4


def test_a_resting_server_stops() -> None:
    house = House(standby="imported")
    front, _ = resting(house)
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front, 0)
    house.dies(house.newest("worker"))
    assert house.lifecycle.exit_code is ExitCode.OK


COREML = "CoreMLExecutionProvider"
ACCELERATED = msgspec.structs.replace(KOKORO, provider=COREML)
DEADLINE = SupervisorSettings().load_timeout


def loading(provider: str, **options: object) -> tuple[House, FakeChild]:
    """A house whose first worker has begun to load for that provider."""
    house = House(**options)  # type: ignore[arg-type]
    house.lifecycle.start()
    worker = house.newest("worker")
    house.lifecycle.message(worker, Loading(provider))
    return house, worker


def test_an_accelerator_that_compiles_for_ever_is_given_up_and_the_next_of_the_chain_speaks(house: House) -> None:
    front, worker = house.up(ACCELERATED)
    compiling = house.reborn(worker, 0.05)
    house.lifecycle.message(compiling, Loading(COREML))
    house.passes(DEADLINE - 1)
    assert not compiling.killed
    house.passes(1.5)
    assert compiling.killed and compiling.dumped, "what it hung in is in the log"
    assert house.newest("worker").heard_of(Load) == [Load((COREML,))]
    house.ready(house.newest("worker"), KOKORO)
    told = front.situation
    assert "--load-timeout" in told.provider_failures[COREML]
    assert house.announced[-1].engine is KOKORO


def test_one_that_has_gone_on_to_the_cpu_is_started_again_and_nothing_is_given_up() -> None:
    house, worker = loading(COREML)
    house.lifecycle.message(worker, Loading(KOKORO.provider))
    house.passes(DEADLINE + 1)
    assert worker.killed and house.newest("worker").heard_of(Load) == [Load()]


def test_one_that_said_nothing_is_started_again(house: House) -> None:
    house.lifecycle.start()
    worker = house.newest("worker")
    house.passes(DEADLINE + 1)
    assert worker.killed and house.newest("worker") is not worker


def test_one_that_has_loaded_has_no_deadline() -> None:
    house, worker = loading(COREML)
    house.ready(worker, ACCELERATED)
    house.passes(DEADLINE + 1)
    assert not worker.killed


def test_a_successor_that_loads_for_ever_costs_nobody_the_one_that_speaks() -> None:
    house = House(fetch=True)
    _, espeak = house.up()
    house.dies(house.newest("fetcher"), 0)
    successor = house.newest("worker")
    house.lifecycle.message(successor, Loading(COREML))
    house.passes(DEADLINE + 1)
    assert successor.killed and not espeak.killed
    house.dies(successor, successor.status)
    house.passes(10)
    assert not espeak.killed


@pytest.mark.parametrize("provider", [COREML, KOKORO.provider])
def test_a_successor_that_has_loaded_when_it_is_about_to_be_killed_takes_nobodys_place(provider: str) -> None:
    house = House(fetch=True)
    front, espeak = house.up()
    house.dies(house.newest("fetcher"), 0)
    successor = house.newest("worker")
    house.lifecycle.message(successor, Loading(provider))
    while not successor.dumped:
        house.passes(0.05)
    assert not successor.killed, "it has a moment to say where it hangs"
    house.ready(successor, ACCELERATED)
    house.passes(1)
    house.dies(successor, successor.status)
    house.passes(10)
    assert not successor.heard_of(Connect) and len(front.heard_of(Connect)) == 1 and not espeak.killed


@pytest.mark.parametrize("provider", [COREML, KOKORO.provider])
def test_a_standby_that_is_about_to_be_killed_stands_by_for_nobody(provider: str) -> None:
    house = House(standby="loaded")
    _, worker = house.up(KOKORO)
    standby = house.newest("worker")
    house.lifecycle.message(standby, Loading(provider))
    while not standby.dumped:
        house.passes(0.05)
    assert not standby.killed, "it has a moment to say where it hangs"
    house.dies(worker)
    house.passes(0.05)
    assert standby.heard_of(Load) == [Load(standby=True)]
    assert house.newest("worker").heard_of(Load) == [Load((COREML,) if provider == COREML else (), proven=KOKORO)]


def test_a_standby_that_loads_for_ever_is_replaced_by_another() -> None:
    for provider in (COREML, KOKORO.provider):
        house = House(standby="loaded")
        house.up(KOKORO)
        standby = house.newest("worker")
        house.lifecycle.message(standby, Loading(provider))
        house.passes(DEADLINE + 1)
        assert standby.killed
        house.dies(standby, standby.status)
        house.passes(6)
        without = (COREML,) if provider == COREML else ()
        assert house.newest("worker").heard_of(Load) == [Load(without, standby=True)]


def test_an_imported_standby_waits_as_long_as_it_is_not_needed() -> None:
    house = House(standby="imported")
    house.up(KOKORO)
    house.passes(DEADLINE + 1)
    assert not house.newest("worker").killed


def test_a_provider_that_crashes_whoever_loads_it_is_given_up_before_the_crash_loop() -> None:
    house, worker = loading(COREML)
    for _ in range(2):
        house.dies(worker, -signal.SIGSEGV)
        house.passes(0.3)
        worker = house.newest("worker")
        if worker.heard_of(Load) == [Load()]:
            house.lifecycle.message(worker, Loading(COREML))
    assert worker.heard_of(Load) == [Load((COREML,))]


def test_another_slots_worker_that_loads_for_ever_is_replaced_alone() -> None:
    house = House(workers=2)
    house.up(KOKORO)
    second = house.newest("worker")
    house.lifecycle.message(second, Loading(KOKORO.provider))
    house.passes(DEADLINE + 1)
    assert second.killed and house.newest("worker").heard_of(Load) == [Load(slot=1, slots=2)]


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_deadline_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="load_timeout"):
        SupervisorSettings(load_timeout=seconds)


def test_fronts_hear_that_a_worker_loads_kokoro(house: House) -> None:
    """1. Both processes start. 2. The worker loads for a provider: the front hears so. 3. It is ready: no more."""
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    house.lifecycle.message(front, Started())
    house.lifecycle.message(worker, Loading(KOKORO.provider))
    assert [each.loading for each in front.situation.processes] == ["", KOKORO.provider]
    house.lifecycle.message(worker, ChildReady(KOKORO, 1.0))
    assert not any(each.loading for each in front.situation.processes)
