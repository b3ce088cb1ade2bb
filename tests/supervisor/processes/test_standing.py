"""The lifecycle's report on the whole server, replayed without a process."""

import signal

from shm.messages import BootFailure, Started
from supervisor.processes.lifecycle import Changes
from supervisor.processes.standing import Phase
from tests.supervisor.fakes import KOKORO, House


def phases(house: House) -> list[Phase]:
    """Each once, in order."""
    seen: list[Phase] = []
    for standing in house.standings:
        if not seen or seen[-1] is not standing.phase:
            seen.append(standing.phase)
    return seen


def test_it_serves_when_the_front_accepts_and_an_engine_speaks() -> None:
    house = House()
    house.lifecycle.start()
    house.lifecycle.message(house.newest("front"), Started())
    assert phases(house) == [Phase.STARTING]
    assert house.standings[-1].summary == "the worker is starting"
    house.ready(house.newest("worker"), KOKORO)
    assert phases(house) == [Phase.STARTING, Phase.SERVING]
    assert house.standings[-1].summary == "speaking with kokoro (m.onnx, CPUExecutionProvider)"


def test_the_other_order_is_no_different() -> None:
    house = House()
    house.lifecycle.start()
    house.ready(house.newest("worker"))
    assert phases(house) == [Phase.STARTING]
    house.lifecycle.message(house.newest("front"), Started())
    assert phases(house) == [Phase.STARTING, Phase.SERVING]


def test_a_restart_is_told_and_is_no_new_start() -> None:
    house = House()
    _, worker = house.up()
    speaking = house.standings[-1].summary
    house.dies(worker)
    assert house.standings[-1].summary == "the worker is being restarted"
    house.passes(0.1)
    house.ready(house.newest("worker"))
    assert house.standings[-1].summary == speaking
    assert phases(house) == [Phase.STARTING, Phase.SERVING]


def test_nothing_is_told_twice() -> None:
    house = House()
    house.up()
    told = len(house.standings)
    house.passes(10)
    assert len(house.standings) == told


def test_a_reload_lasts_until_what_takes_over_is_there() -> None:
    house = House()
    house.up()
    house.changes = Changes(front=True, worker=True)
    house.lifecycle.signal(signal.SIGHUP)
    assert phases(house)[-1] is Phase.RELOADING
    house.ready(house.newest("worker"), KOKORO)
    assert phases(house)[-1] is Phase.RELOADING, "the front is still to come"
    house.lifecycle.message(house.newest("front"), Started())
    assert phases(house) == [Phase.STARTING, Phase.SERVING, Phase.RELOADING, Phase.SERVING]


def test_a_reload_whose_successor_dies_is_over() -> None:
    house = House()
    house.up()
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    house.dies(house.newest("front"))
    assert phases(house)[-1] is Phase.SERVING


def test_a_reload_that_changes_nothing_is_none() -> None:
    house = House()
    house.up()
    house.lifecycle.signal(signal.SIGHUP)
    house.passes(1)
    assert Phase.RELOADING not in phases(house)


def test_draining_is_told_before_anything_has_ended() -> None:
    house = House()
    house.up()
    house.lifecycle.signal(signal.SIGTERM)
    assert house.standings[-1].phase is Phase.DRAINING
    assert house.lifecycle.exit_code is None


def test_an_engine_that_cannot_be_loaded_is_the_reason_of_the_end() -> None:
    house = House()
    house.lifecycle.start()
    house.lifecycle.message(house.newest("worker"), BootFailure("engine", "no model: fetch it"))
    assert phases(house) == [Phase.STARTING, Phase.DRAINING]
    assert house.standings[-1].summary == "no model: fetch it"
