"""The spare front: when there is one, and what becomes of it."""

import signal

from shm.messages import Connect, Drain, StandBy, Started
from shm.situation import Situation
from supervisor.processes.fronts import BACKOFF, LOAD_LIMIT, PAUSE
from supervisor.processes.lifecycle import Changes
from supervisor.processes.role import RoleState
from tests.supervisor.fakes import ESPEAK, KOKORO, FakeChild, House


def with_a_spare(house: House) -> tuple[FakeChild, FakeChild]:
    """A server that speaks: its front, and the one that stands by."""
    front, _ = house.up()
    house.passes(PAUSE)
    spare = house.newest("front")
    assert spare is not front
    house.lifecycle.message(spare, Started())
    return front, spare


def test_it_is_started_once_the_server_speaks_and_told_nothing_but_to_stand_by() -> None:
    house = House(standby_front=True)
    house.lifecycle.start()
    front, worker = house.newest("front"), house.newest("worker")
    house.lifecycle.message(front, Started())
    house.passes(PAUSE)
    assert house.count("front") == 1
    house.ready(worker)
    assert house.count("front") == 2 and house.lifecycle.front is front
    spare = house.newest("front")
    house.lifecycle.message(spare, Started())
    assert spare.heard == [StandBy(english=False)]
    assert [each.state for each in front.situation.processes if each.role == "standby-front"] == ["ready"]


def test_it_loads_english_where_the_engine_takes_phonemes() -> None:
    house = House(standby_front=True)
    _, worker = house.up(KOKORO)
    house.passes(PAUSE)
    spare = house.newest("front")
    house.lifecycle.message(spare, Started())
    assert spare.heard == [StandBy(english=KOKORO.speaks == "phonemes")] and KOKORO.speaks != ESPEAK.speaks
    house.lifecycle.message(worker, Started())
    assert len(spare.heard) == 1, "once"


def test_without_the_setting_there_is_none() -> None:
    house = House()
    house.up()
    house.passes(60)
    assert house.count("front") == 1


def test_it_takes_a_dead_fronts_place_in_the_same_moment_and_the_next_one_comes_a_little_later() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    house.dies(front)
    house.lifecycle.tick()
    assert house.lifecycle.front is spare and house.count("front") == 2
    assert spare.heard_of(Situation) and spare.heard_of(Connect)
    house.passes(PAUSE)
    assert house.count("front") == 3


def test_it_takes_a_hanging_fronts_place() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    front.hangs, front.share = True, 0.0
    house.passes(20)
    assert front.killed and house.lifecycle.front is spare


def test_one_that_is_still_starting_is_ahead_of_a_new_one() -> None:
    house = House(standby_front=True)
    front, _ = house.up()
    house.passes(PAUSE)
    spare = house.newest("front")
    house.dies(front)
    house.lifecycle.tick()
    assert house.lifecycle.front is None and house.newest("front") is spare
    house.lifecycle.message(spare, Started())
    assert house.lifecycle.front is spare


def test_its_own_death_changes_nothing_and_is_no_death_of_the_front() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    for _ in range(6):
        house.dies(spare, -signal.SIGSEGV)
        house.passes(BACKOFF - 0.1)
        assert house.newest("front") is spare
        house.passes(0.2)
        assert house.newest("front") is not spare
        spare = house.newest("front")
    assert house.lifecycle.front is front and front.situation.restarts["front"] == 0


def test_one_that_hangs_takes_no_place() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    spare.hangs, spare.share = True, 0.0
    house.passes(20)
    assert spare.killed
    house.dies(front)
    house.lifecycle.tick()
    assert house.lifecycle.front is not spare


def test_new_settings_are_for_a_new_process() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    successor = house.newest("front")
    assert spare.killed and successor is not spare
    house.dies(spare)
    house.lifecycle.message(successor, Started())
    assert house.lifecycle.front is successor and front.heard_of(Drain)
    house.passes(BACKOFF + PAUSE)
    assert house.count("front") == 4, "a spare one with the new settings"


def test_it_ends_with_the_server() -> None:
    house = House(standby_front=True)
    front, spare = with_a_spare(house)
    house.lifecycle.signal(signal.SIGTERM)
    assert spare.killed and not front.killed
    house.dies(spare)
    house.dies(front, 0)
    house.dies(house.newest("worker"), 0)
    assert house.lifecycle.exit_code == 0 and house.lifecycle._fronts.role.state is RoleState.STOPPED


def with_a_template(house: House) -> FakeChild:
    """A server that starts, up to the moment at which fronts can be forked."""
    house.lifecycle.start()
    template = house.newest("template")
    assert house.count("front") == 0 and house.count("worker") == 1, "the workers load meanwhile"
    house.lifecycle.message(template, Started())
    house.lifecycle.message(house.newest("front"), Started())
    house.ready(house.newest("worker"))
    return template


def test_every_front_is_forked_once_the_template_can() -> None:
    house = House(standby_front=True, forks=True)
    template = with_a_template(house)
    house.passes(PAUSE)
    front, spare = house.all("front")
    assert house.lifecycle.front is front
    reports = {each.role: each.state for each in front.situation.processes}
    assert (reports["front-template"], reports["standby-front"]) == ("ready", RoleState.STARTING)
    house.lifecycle.message(spare, Started())
    house.dies(template)
    assert house.lifecycle.front is front and front.situation.restarts["front"] == 0
    house.passes(BACKOFF)
    assert house.count("template") == 2


def test_a_template_that_fails_or_takes_long_is_not_waited_for() -> None:
    house = House(standby_front=True, forks=True)
    house.lifecycle.start()
    house.dies(house.newest("template"), 1)
    assert house.count("front") == 1
    house = House(standby_front=True, forks=True)
    house.lifecycle.start()
    house.passes(LOAD_LIMIT - 0.1)
    assert house.count("front") == 0
    house.passes(0.2)
    assert house.count("front") == 1


def test_a_front_that_dies_does_not_wait_for_a_template() -> None:
    house = House(standby_front=True, forks=True)
    house.dies(with_a_template(house))
    for seconds in (0.0, BACKOFF):
        house.passes(seconds)
        front = house.lifecycle.front
        assert isinstance(front, FakeChild)
        house.dies(front)
        house.passes(0.2)
        house.lifecycle.message(house.newest("front"), Started())
        assert house.lifecycle.front is house.newest("front") is not front
    assert house.count("template") == 2 and not house.newest("template").able


def test_a_template_has_the_present_settings_and_ends_with_the_server() -> None:
    house = House(standby_front=True, forks=True)
    template = with_a_template(house)
    front = house.lifecycle.front
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    newer = house.newest("template")
    assert template.killed and newer is not template and house.newest("front") is not None
    house.dies(template)
    assert house.lifecycle.front is front and house.newest("template") is newer
    house.lifecycle.message(newer, Started())
    successor = house.newest("front")
    house.lifecycle.message(successor, Started())
    assert house.lifecycle.front is successor is not front
    house.lifecycle.signal(signal.SIGTERM)
    assert newer.killed
    house.dies(newer)
    house.passes(60)
    assert house.count("template") == 2
