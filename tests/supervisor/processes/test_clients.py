"""The player and the maker of books: started when a front wants them, told of it, restarted after a death, gone when
idle."""

import logging
import signal

import msgspec
import pytest

from shm.lifeline import DONE, FAILED, NOTHING_NEW
from shm.messages import (
    BooksIdle,
    BooksNews,
    ChildProgress,
    ChildReady,
    ControlMessage,
    Drain,
    PlayerLink,
    PlayerWanted,
    Started,
)
from supervisor.commands.serve import errands
from supervisor.processes import heartbeats
from supervisor.processes.errands import FIRST_RETRY, LAST_RETRY, Errand
from supervisor.processes.lifecycle import Changes
from supervisor.processes.standing import ExitCode
from supervisor.settings.composition import Settings
from tests.supervisor.fakes import ESPEAK, KOKORO, FakeChild, House

WANTED: dict[str, ControlMessage] = {"player": PlayerWanted(), "books": BooksNews("http://a", "key", True)}
"""A front's message that there is something to do, by role."""

TOLD: dict[str, type] = {"player": PlayerLink, "books": BooksNews}
"""The message that tells the process of it."""

both = pytest.mark.parametrize("role", WANTED)


def wanted(house: House, role: str) -> tuple[FakeChild, FakeChild]:
    """A front, and the process that it wanted, which has been told."""
    front, _ = house.up()
    house.lifecycle.message(front, WANTED[role])
    return front, started(house, role)


def started(house: House, role: str) -> FakeChild:
    house.lifecycle.message(house.newest(role), Started())
    return house.newest(role)


def numbers(books: FakeChild) -> list[int]:
    return [message.number for message in books.heard_of(BooksNews)]


def test_none_runs_before_it_is_wanted() -> None:
    house = House()
    front, _ = house.up()
    house.lifecycle.message(front, BooksNews("http://a", "key", False))
    house.passes(60)
    assert house.count("player") == house.count("books") == 0


@both
def test_it_is_started_once_and_told(role: str) -> None:
    house = House()
    front, child = wanted(house, role)
    assert len(child.heard_of(TOLD[role])) == 1
    house.lifecycle.message(front, WANTED[role])
    assert house.count(role) == 1
    if role == "player":
        assert len(front.heard_of(PlayerLink)) == len(child.heard_of(PlayerLink)) == 1
    else:
        assert numbers(child) == [1, 2], "it hears of each change"


@both
def test_a_dead_one_is_replaced_and_told_again(role: str) -> None:
    house = House()
    front, child = wanted(house, role)
    house.lifecycle.message(child, ChildProgress())
    house.dies(child)
    house.passes(0.1)
    again = started(house, role)
    assert house.count(role) == 2 and len(again.heard_of(TOLD[role])) == 1
    assert front.situation.restarts[role] == 1 and house.count("front") == 1
    assert len(front.heard_of(PlayerLink)) == (2 if role == "player" else 0)


@both
def test_an_idle_one_ends_and_the_next_wish_starts_another(role: str) -> None:
    house = House()
    front, child = wanted(house, role)
    if role == "books":
        house.lifecycle.message(child, BooksIdle(1))
    house.dies(child, status=0)
    house.passes(60)
    assert house.count(role) == 1
    house.lifecycle.message(front, WANTED[role])
    assert house.count(role) == 2


@both
def test_it_ends_with_the_server(role: str) -> None:
    house = House()
    front, child = wanted(house, role)
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front, status=0)
    assert child.heard_of(Drain)
    house.dies(house.newest("worker"), status=0)
    assert house.lifecycle.exit_code is None, "it has not ended"
    house.dies(child, status=0)
    assert house.lifecycle.exit_code == 0 and house.count(role) == 1


def test_a_new_front_is_linked_with_the_player_that_lives_on() -> None:
    house = House()
    front, player = wanted(house, "player")
    house.lifecycle.message(front, ChildProgress())
    house.dies(front)
    house.passes(0.1)
    successor = started(house, "front")
    assert house.count("player") == 1
    assert len(successor.heard_of(PlayerLink)) == 1 and len(player.heard_of(PlayerLink)) == 2


def test_news_that_an_idle_maker_of_books_has_not_seen_starts_another() -> None:
    house = House()
    front, books = wanted(house, "books")
    house.lifecycle.message(front, WANTED["books"])
    house.lifecycle.message(books, BooksIdle(1))
    house.dies(books, status=0)
    assert house.count("books") == 2


def test_a_front_that_drains_does_not_give_its_address() -> None:
    house = House()
    front, books = wanted(house, "books")
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    assert books.heard_of(Drain), "the settings of jobs may have changed"
    house.dies(books, status=0)
    reborn = started(house, "front")
    house.lifecycle.message(reborn, BooksNews("http://a", "other", False))
    house.lifecycle.message(front, WANTED["books"])
    (news,) = started(house, "books").heard_of(BooksNews)
    assert news.key == "other"


TIMEOUT = 600.0


def trial(provider: str) -> Errand:
    return Errand("trial", f"{provider} was tried", f"{provider} is being tried", TIMEOUT, provider, again=True)


def house(**options: bool) -> House:
    return House(errands=[trial("A"), trial("B")], **options)  # type: ignore[arg-type]


def test_a_trial_runs_beside_the_worker_and_is_reported() -> None:
    home = house()
    front, _ = home.up(KOKORO)
    assert [child.subject for child in home.all("trial")] == ["A"]
    told = front.situation
    assert [report.state for report in told.processes if report.role == "trial"] == ["running"]
    assert home.standings[-1].summary.endswith("while A is being tried")


def test_one_that_brought_something_has_the_worker_replaced_and_the_next_asks_for_what_is_left() -> None:
    home = house()
    home.up(KOKORO)
    home.dies(home.newest("trial"), DONE)
    assert home.count("worker") == 2 and home.count("trial") == 1
    home.ready(home.newest("worker"), KOKORO)
    assert [child.subject for child in home.all("trial")] == ["A", "B"]


@pytest.mark.parametrize(("status", "said"), [(NOTHING_NEW, 0), (1, 1), (-signal.SIGSEGV, 1)])
def test_one_that_brought_nothing_changes_nothing_and_lets_the_next_go(
    status: int, said: int, caplog: pytest.LogCaptureFixture
) -> None:
    home = house()
    home.up(KOKORO)
    with caplog.at_level(logging.WARNING):
        home.dies(home.newest("trial"), status)
    assert len([line for line in caplog.messages if "A is being tried: ended" in line]) == said
    assert home.count("worker") == 1
    assert [child.subject for child in home.all("trial")] == ["A", "B"]


def test_each_is_tried_once() -> None:
    home = house()
    home.up(KOKORO)
    for _ in range(2):
        home.dies(home.newest("trial"), NOTHING_NEW)
    home.dies(home.newest("worker"))
    home.passes(0.1)
    home.ready(home.newest("worker"), KOKORO)
    assert home.count("trial") == 2


def test_one_that_takes_too_long_is_killed_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    home = house()
    home.up(KOKORO)
    child = home.newest("trial")
    home.passes(TIMEOUT - 1)
    assert not child.killed
    home.passes(1.1)
    assert child.killed
    home.dies(child, child.status)
    assert "A is being tried: ended after 600 s, nothing changes" in caplog.messages
    assert home.count("worker") == 1 and home.newest("trial").subject == "B"


def test_none_runs_beside_another() -> None:
    home = house(fetch=True)
    home.up(ESPEAK)
    home.dies(home.newest("front"))
    home.passes(0.1)
    home.lifecycle.message(home.newest("front"), Started())
    assert (home.count("fetcher"), home.count("trial")) == (1, 0)
    home.dies(home.newest("fetcher"), 1)
    assert home.count("trial") == 1


def test_a_stop_ends_the_one_that_runs_and_starts_none() -> None:
    home = house()
    front, worker = home.up(KOKORO)
    running = home.newest("trial")
    home.lifecycle.signal(signal.SIGTERM)
    assert running.killed
    home.dies(running, DONE)
    assert home.count("trial") == 1 and home.count("worker") == 1
    home.dies(front, 0)
    home.dies(worker, 0)
    assert home.lifecycle.exit_code is ExitCode.OK


def test_what_nobody_has_tried_here_is_tried_within_the_setting() -> None:
    engine = msgspec.structs.replace(KOKORO, untried=("CoreMLExecutionProvider",))
    (wanted,) = errands(Settings(), ChildReady(engine, 0.1))
    assert (wanted.role, wanted.subject, wanted.again) == ("trial", "CoreMLExecutionProvider", True)
    assert wanted.timeout == Settings().worker.compile_timeout
    three = msgspec.structs.replace(KOKORO, untried=("CoreMLExecutionProvider",) * 3)
    (all_units,) = errands(Settings(), ChildReady(three, 0.1))
    assert all_units.timeout == 3 * wanted.timeout, "each has its own time"
    assert not errands(Settings(), ChildReady(KOKORO, 0.1))


@pytest.fixture(autouse=True)
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days pass in a test: heartbeats every few seconds would take it long."""
    monkeypatch.setattr(heartbeats, "INTERVAL", 7200.0)


def only_one() -> House:
    home = House(errands=[trial("A")])
    home.up(KOKORO)
    return home


@pytest.mark.parametrize("status", [FAILED, -signal.SIGKILL])
def test_what_may_pass_is_tried_again_after_an_hour_then_two_and_at_last_once_a_day(status: int) -> None:
    home = only_one()
    delay, hours = FIRST_RETRY, []
    for count in range(1, 8):
        home.dies(home.newest("trial"), status)
        home.passes(delay - 1)
        assert home.count("trial") == count
        home.passes(1.1)
        assert home.count("trial") == count + 1
        hours.append(delay / 3600)
        delay = min(2 * delay, LAST_RETRY)
    assert hours == [1, 2, 4, 8, 16, 24, 24]
    assert {child.subject for child in home.all("trial")} == {"A"}


def test_one_that_took_too_long_is_tried_again() -> None:
    home = only_one()
    home.passes(TIMEOUT + 0.1)
    home.dies(home.newest("trial"), home.newest("trial").status)
    home.passes(FIRST_RETRY + 1)
    assert home.count("trial") == 2
    home.dies(home.newest("trial"), DONE)
    assert home.count("worker") == 2, "what it brought at last is used"


@pytest.mark.parametrize("status", [NOTHING_NEW, -signal.SIGSEGV])
def test_what_says_something_of_the_provider_is_not_tried_again(status: int) -> None:
    home = only_one()
    home.dies(home.newest("trial"), status)
    home.passes(10 * LAST_RETRY)
    assert home.count("trial") == 1


def test_a_worker_that_comes_meanwhile_does_not_hurry_it() -> None:
    home = only_one()
    home.dies(home.newest("trial"), FAILED)
    home.dies(home.newest("worker"))
    home.passes(0.1)
    home.ready(home.newest("worker"), KOKORO)
    assert home.count("trial") == 1
    home.passes(FIRST_RETRY)
    assert home.count("trial") == 2


def test_other_settings_begin_again() -> None:
    """New settings end the waits of errands under the old ones: once the new worker speaks, it says which are
    wanted."""
    for status in (FAILED, NOTHING_NEW):
        home = only_one()
        home.dies(home.newest("trial"), status)
        home.changes = Changes(front=False, worker=True)
        home.lifecycle.signal(signal.SIGHUP)
        home.ready(home.newest("worker"), KOKORO)
        assert home.count("trial") == 2
        home.dies(home.newest("trial"), NOTHING_NEW)
        home.passes(FIRST_RETRY + 1)
        assert home.count("trial") == 2, "the old one's hour is over, and nobody waits for it"


def test_what_fails_under_settings_that_are_gone_is_not_tried_again_under_others() -> None:
    home = only_one()
    home.changes = Changes(front=False, worker=True)
    home.lifecycle.signal(signal.SIGHUP)
    home._errands = ()  # nobody wants it any more
    home.ready(home.newest("worker"), KOKORO)
    home.dies(home.newest("trial"), FAILED)
    home.passes(FIRST_RETRY + 1)
    assert home.count("trial") == 1


def test_a_stopping_server_tries_nothing_again() -> None:
    home = only_one()
    home.dies(home.newest("trial"), FAILED)
    home.lifecycle.signal(signal.SIGTERM)
    home.passes(FIRST_RETRY + 1)
    assert home.count("trial") == 1


def test_an_errand_that_is_not_to_be_tried_again_is_left_alone() -> None:
    home = House(fetch=True)
    home.up(ESPEAK)
    home.dies(home.newest("fetcher"), FAILED)
    home.passes(LAST_RETRY + 1)
    assert home.count("fetcher") == 1
