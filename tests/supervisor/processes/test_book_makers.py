"""The role that makes books: started when there are jobs, told of each change, gone when it is idle."""

from __future__ import annotations

import signal

from shm.messages import BooksIdle, BooksNews, ChildProgress, Drain, Started
from supervisor.processes.lifecycle import Changes
from tests.supervisor.fakes import FakeChild, House


def making(house: House) -> tuple[FakeChild, FakeChild]:
    """A front with jobs, and the process that makes them."""
    front, _ = house.up()
    house.lifecycle.message(front, BooksNews("http://a", "key", True))
    books = house.newest("books")
    house.lifecycle.message(books, Started())
    return front, books


def numbers(books: FakeChild) -> list[int]:
    return [message.number for message in books.heard if isinstance(message, BooksNews)]


def test_without_jobs_there_is_no_process() -> None:
    house = House()
    front, _ = house.up()
    house.lifecycle.message(front, BooksNews("http://a", "key", False))
    house.passes(60)
    assert house.count("books") == 0


def test_it_is_started_once_and_hears_of_each_change() -> None:
    house = House()
    front, books = making(house)
    house.lifecycle.message(front, BooksNews("http://a", "key", True))
    assert house.count("books") == 1 and numbers(books) == [1, 2]


def test_a_dead_one_is_replaced_and_told_again() -> None:
    house = House()
    front, books = making(house)
    house.lifecycle.message(books, ChildProgress())
    house.dies(books)
    house.passes(0.1)
    again = house.newest("books")
    house.lifecycle.message(again, Started())
    assert house.count("books") == 2 and numbers(again) == [1]
    situation = front.situation
    assert situation.restarts["books"] == 1


def test_news_that_an_idle_one_has_not_seen_starts_another() -> None:
    house = House()
    front, books = making(house)
    house.lifecycle.message(books, BooksIdle(1))
    house.dies(books, status=0)
    house.passes(60)
    assert house.count("books") == 1, "it has seen everything"
    house.lifecycle.message(front, BooksNews("http://a", "key", True))
    later = house.newest("books")
    house.lifecycle.message(later, Started())
    house.lifecycle.message(front, BooksNews("http://a", "key", True))
    house.lifecycle.message(later, BooksIdle(2))
    house.dies(later, status=0)
    assert house.count("books") == 3


def test_a_front_that_drains_does_not_give_its_address() -> None:
    house = House()
    front, books = making(house)
    house.changes = Changes(front=True, worker=False)
    house.lifecycle.signal(signal.SIGHUP)
    assert books.heard_of(Drain), "the settings of jobs may have changed"
    house.dies(books, status=0)
    reborn = house.newest("front")
    house.lifecycle.message(reborn, Started())
    house.lifecycle.message(reborn, BooksNews("http://a", "other", False))
    house.lifecycle.message(front, BooksNews("http://a", "key", True))
    renewed = house.newest("books")
    house.lifecycle.message(renewed, Started())
    (news,) = renewed.heard_of(BooksNews)
    assert isinstance(news, BooksNews) and news.key == "other"


def test_it_ends_with_the_server() -> None:
    house = House()
    front, books = making(house)
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front, status=0)
    assert books.heard_of(Drain)
