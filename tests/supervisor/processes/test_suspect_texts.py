"""A text that is in the works whenever a front dies is refused; a kill from outside is held against no other text."""

import signal

import pytest

from shm.in_flight import WHOLE_READING, DeathCause, TextsInFlight, WorkKind, WorkStep, WorkSteps, digest_of
from shm.messages import Cleared, Started, Suspects
from supervisor.processes.fronts import KEPT, MANY, REFUSED_FOR
from tests.supervisor.fakes import FakeChild, House

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


def test_a_text_that_many_fronts_died_of_is_refused_for_a_while_and_its_company_is_not() -> None:
    house = House()
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


def test_a_front_hears_whom_to_suspect_before_it_accepts() -> None:
    house = House()
    house.up()
    front = dies_at(house, TextsInFlight({POISON: READ}), -signal.SIGKILL)
    kinds = [type(message) for message in front.heard]
    assert kinds.index(Suspects) < kinds.index(type(front.heard[-1])), "the situation, with which it accepts, is last"


def test_a_kill_from_outside_is_held_against_no_text_that_only_waits() -> None:
    house = House()
    house.up()
    for _ in range(MANY):
        front = dies_at(house, TextsInFlight(waiting=frozenset({INNOCENT})), -signal.SIGKILL)
    assert told(front) == Suspects()


def test_a_front_that_ends_itself_has_all_its_texts_suspected_if_none_was_worked_on() -> None:
    house = House()
    house.up()
    for status in (1, -signal.SIGABRT, -signal.SIGSEGV):
        front = dies_at(house, TextsInFlight(waiting=frozenset({POISON})), status)
    assert set(told(front).refused) == {POISON} and told(front).cause is DeathCause.UNKNOWN


def test_texts_that_waited_together_share_a_death() -> None:
    house = House()
    house.up()
    front = house.newest("front")
    for _ in range(2 * MANY):
        assert not (front.heard_of(Suspects) and told(front).refused)
        front = dies_at(house, TextsInFlight(waiting=frozenset({POISON, INNOCENT})), -signal.SIGSEGV)
        house.lifecycle.message(front, Cleared(INNOCENT))
        house.passes(REFUSED_FOR / (3 * MANY))
    assert set(told(front).refused) == {POISON}


def test_a_text_that_was_answered_in_between_is_cleared() -> None:
    house = House()
    house.up()
    for _ in range(2 * MANY):
        front = dies_at(house, TextsInFlight({INNOCENT: READ}), -signal.SIGKILL)
        assert told(front) == Suspects((INNOCENT,), {}, DeathCause.TEXT)
        house.lifecycle.message(front, Cleared(INNOCENT))
        assert told(front) == Suspects(cause=DeathCause.TEXT)


def test_kills_from_outside_are_held_against_no_text() -> None:
    house = House()
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
def test_only_deaths_at_the_same_place_count_together(steps: list[WorkStep], refused: bool) -> None:
    house = House()
    house.up()
    for step in steps:
        front = dies_at(house, TextsInFlight({POISON: WorkSteps((step,))}), -signal.SIGKILL)
    assert bool(told(front).refused) == refused


def test_a_front_that_was_told_to_end_says_nothing_of_its_texts() -> None:
    house = House()
    front, _ = house.up()
    house.lifecycle.signal(signal.SIGTERM)
    front.in_flight = TextsInFlight({INNOCENT: READ})
    house.dies(front, -signal.SIGKILL)
    assert all(m == Suspects() for m in front.heard_of(Suspects))


def test_suspicions_are_bounded() -> None:
    house = House()
    house.up()
    front = house.newest("front")
    for number in range(3):
        many = dict.fromkeys((digest_of(f"{number} {place}") for place in range(KEPT)), READ)
        front = dies_at(house, TextsInFlight(many), -signal.SIGKILL)
    assert len(told(front).suspected) == KEPT
