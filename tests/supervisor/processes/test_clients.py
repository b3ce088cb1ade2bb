"""The player and the maker of books: started when a front wants them, told of it, restarted after a death, gone when
idle."""

import signal

import pytest

from shm.messages import BooksIdle, BooksNews, ChildProgress, ControlMessage, Drain, PlayerLink, PlayerWanted, Started
from supervisor.processes.lifecycle import Changes
from tests.supervisor.fakes import FakeChild, House

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
