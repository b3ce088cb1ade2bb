"""Workers that rest because nobody asks for speech: histories replayed without a process and without waiting."""

import signal

import pytest

from shm.messages import Connect, Disconnect, Drain, Idle, Load, Started, WorkersNeeded
from supervisor.processes.lifecycle import Changes
from supervisor.processes.standing import ExitCode
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


def test_a_worker_that_nobody_needs_ends_after_its_front_has_released_it() -> None:
    house = House()
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


def test_a_front_that_was_started_since_knows_the_resting_engine() -> None:
    house = House()
    front, _ = resting(house)
    reborn = house.reborn(front, 0.1)
    house.lifecycle.message(reborn, Started())
    assert reborn.situation.returning == {0: KOKORO}
    house.lifecycle.message(reborn, WorkersNeeded(True))
    house.ready(house.newest("worker"), KOKORO)
    assert reborn.heard_of(Connect)
    assert not reborn.situation.returning


def test_a_request_during_the_end_of_the_worker_starts_another() -> None:
    house = House()
    front, worker = house.up()
    house.lifecycle.message(front, WorkersNeeded(False))
    house.lifecycle.message(front, WorkersNeeded(True))
    successor = house.newest("worker")
    assert successor is not worker
    house.ready(successor)
    assert front.heard_of(Connect)[-1].generation == successor.generation


def test_a_front_that_finishes_its_streams_keeps_the_worker() -> None:
    house = House()
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
