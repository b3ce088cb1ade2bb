"""The spare front, and texts that are in the works whenever a front dies."""

import signal

import pytest

from shm.in_flight import WHOLE_READING, DeathCause, TextsInFlight, WorkKind, WorkStep, WorkSteps, digest_of
from shm.messages import Cleared, Connect, Drain, StandBy, Started, Suspects
from shm.situation import Situation
from supervisor.processes.fronts import BACKOFF, KEPT, LOAD_LIMIT, MANY, PAUSE, REFUSED_FOR
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
    house.passes(PAUSE / 2)
    assert house.count("front") == 1, "who asks at once has all cores"
    house.passes(PAUSE / 2)
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


def test_without_the_setting_there_is_none(house: House) -> None:
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


POISON, INNOCENT = digest_of("poison"), digest_of("innocent")
READ = WorkSteps((WHOLE_READING,))


def dies_at(house: House, texts: TextsInFlight, status: int) -> FakeChild:
    """The front dies with those texts in the works; the next one, which has come up."""
    front = house.newest("front")
    front.in_flight = texts
    house.dies(front, status)
    house.passes(5.0)
    house.lifecycle.message(house.newest("front"), Started())
    return house.newest("front")


def told(front: FakeChild) -> Suspects:
    latest = front.heard_of(Suspects)[-1]
    assert isinstance(latest, Suspects)
    return latest


def test_a_text_that_many_fronts_died_of_is_refused_for_a_while_and_its_company_is_not(house: House) -> None:
    house.up()
    texts = TextsInFlight({POISON: READ}, frozenset({INNOCENT}))
    for _ in range(MANY - 1):
        front = dies_at(house, texts, -signal.SIGKILL)
        assert told(front) == Suspects((POISON,), {}, DeathCause.TEXT)
    front = dies_at(house, texts, -signal.SIGSEGV)
    assert told(front).suspected == () and set(told(front).refused) == {POISON}
    assert REFUSED_FOR - 10 < told(front).refused[POISON] - house.now <= REFUSED_FOR
    house.passes(REFUSED_FOR)
    house.lifecycle.tick()  # whatever happens next; a front compares the time by itself
    assert told(front) == Suspects(cause=DeathCause.TEXT)


def test_a_front_hears_whom_to_suspect_before_it_accepts(house: House) -> None:
    house.up()
    front = dies_at(house, TextsInFlight({POISON: READ}), -signal.SIGKILL)
    kinds = [type(message) for message in front.heard]
    assert kinds.index(Suspects) < kinds.index(type(front.heard[-1])), "the situation, with which it accepts, is last"


def test_a_kill_from_outside_is_held_against_no_text_that_only_waits(house: House) -> None:
    house.up()
    for _ in range(MANY):
        front = dies_at(house, TextsInFlight(waiting=frozenset({INNOCENT})), -signal.SIGKILL)
    assert told(front) == Suspects()


def test_a_front_that_ends_itself_has_all_its_texts_suspected_if_none_was_worked_on(house: House) -> None:
    house.up()
    for status in (1, -signal.SIGABRT, -signal.SIGSEGV):
        front = dies_at(house, TextsInFlight(waiting=frozenset({POISON})), status)
    assert set(told(front).refused) == {POISON} and told(front).cause is DeathCause.UNKNOWN


def test_texts_that_waited_together_share_a_death(house: House) -> None:
    house.up()
    front = house.newest("front")
    for _ in range(2 * MANY):
        assert not (front.heard_of(Suspects) and told(front).refused)
        front = dies_at(house, TextsInFlight(waiting=frozenset({POISON, INNOCENT})), -signal.SIGSEGV)
        house.lifecycle.message(front, Cleared(INNOCENT))
        house.passes(REFUSED_FOR / (3 * MANY))
    assert set(told(front).refused) == {POISON}


def test_a_text_that_was_answered_in_between_is_cleared(house: House) -> None:
    house.up()
    for _ in range(2 * MANY):
        front = dies_at(house, TextsInFlight({INNOCENT: READ}), -signal.SIGKILL)
        assert told(front) == Suspects((INNOCENT,), {}, DeathCause.TEXT)
        house.lifecycle.message(front, Cleared(INNOCENT))
        assert told(front) == Suspects(cause=DeathCause.TEXT)


def test_kills_from_outside_are_held_against_no_text(house: House) -> None:
    house.up()
    for _ in range(MANY):
        house.newest("front").killed_from_outside = True
        front = dies_at(house, TextsInFlight({INNOCENT: READ}), -signal.SIGKILL)
    assert told(front) == Suspects(cause=DeathCause.OUTSIDE)
    front = dies_at(house, TextsInFlight({INNOCENT: READ}), -signal.SIGSEGV)
    assert told(front) == Suspects((INNOCENT,), {}, DeathCause.TEXT)


def encoding(start: int, end: int) -> WorkStep:
    return WorkStep(WorkKind.ENCODING, start, end)


@pytest.mark.parametrize(
    ("steps", "refused"),
    [
        # A poisonous sample is in a block each time, however the sound is divided.
        ([encoding(0, 9_000), encoding(4_800, 7_200), encoding(5_000, 5_100)], True),
        ([encoding(0, 4_800), encoding(2_400, 7_200), encoding(4_800, 9_600)], False),
        ([encoding(0, 4_800), WorkStep(WorkKind.READING, 0, 1), encoding(0, 4_800)], False),
        ([WorkStep(WorkKind.READING, 0, 5), WorkStep(WorkKind.READING, 3, 4), WorkStep(WorkKind.READING, 4, 5)], False),
        ([WorkStep(WorkKind.READING, 0, 5), WorkStep(WorkKind.READING, 3, 4), WorkStep(WorkKind.READING, 2, 4)], True),
    ],
)
def test_only_deaths_at_the_same_place_count_together(house: House, steps: list[WorkStep], refused: bool) -> None:
    house.up()
    for step in steps:
        front = dies_at(house, TextsInFlight({POISON: WorkSteps((step,))}), -signal.SIGKILL)
    assert bool(told(front).refused) == refused


def test_a_front_that_was_told_to_end_says_nothing_of_its_texts(house: House) -> None:
    front, _ = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    front.in_flight = TextsInFlight({INNOCENT: READ})
    house.dies(front, -signal.SIGKILL)
    assert all(m == Suspects() for m in front.heard_of(Suspects))


def test_suspicions_are_bounded(house: House) -> None:
    house.up()
    front = house.newest("front")
    for number in range(3):
        many = dict.fromkeys((digest_of(f"{number} {place}") for place in range(KEPT)), READ)
        front = dies_at(house, TextsInFlight(many), -signal.SIGKILL)
    assert len(told(front).suspected) == KEPT
