"""A worker that loads has a deadline; what it loaded for is given up as after a crash, and the next one speaks."""

import signal

import msgspec
import pytest

from shm.messages import ChildReady, Connect, Load, Loading, Started
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import KOKORO, FakeChild, House

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


def test_an_accelerator_that_compiles_for_ever_is_given_up_and_the_next_of_the_chain_speaks() -> None:
    house = House()
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


def test_one_that_said_nothing_is_started_again() -> None:
    house = House()
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
    assert house.newest("worker").heard_of(Load) == [Load((COREML,) if provider == COREML else ())]


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


def test_fronts_hear_that_a_worker_loads_kokoro() -> None:
    """1. Both processes start. 2. The worker loads for a provider: the front hears so. 3. It is ready: no more."""
    house = House()
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    house.lifecycle.message(front, Started())
    house.lifecycle.message(worker, Loading(KOKORO.provider))
    assert [each.loading for each in front.situation.processes] == ["", KOKORO.provider]
    house.lifecycle.message(worker, ChildReady(KOKORO, 1.0))
    assert not any(each.loading for each in front.situation.processes)
