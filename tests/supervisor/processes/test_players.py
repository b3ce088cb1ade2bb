"""The player's role: started when wanted, linked with each front, restarted after a death, gone when idle."""

from __future__ import annotations

import signal

from shm.messages import ChildProgress, PlayerLink, PlayerWanted, Started
from tests.supervisor.fakes import FakeChild, House


def wanted(house: House) -> tuple[FakeChild, FakeChild]:
    """Front and player, linked."""
    front, _ = house.up()
    house.lifecycle.message(front, PlayerWanted())
    player = house.newest("player")
    house.lifecycle.message(player, Started())
    return front, player


def test_no_player_runs_before_one_is_wanted() -> None:
    house = House()
    house.up()
    house.passes(60)
    assert house.count("player") == 0


def test_a_wanted_player_is_started_once_and_linked_with_the_front() -> None:
    house = House()
    front, player = wanted(house)
    house.lifecycle.message(front, PlayerWanted())
    assert house.count("player") == 1
    assert len(front.heard_of(PlayerLink)) == len(player.heard_of(PlayerLink)) == 1


def test_a_dead_player_is_replaced_and_linked_again() -> None:
    house = House()
    front, player = wanted(house)
    house.lifecycle.message(player, ChildProgress())
    house.dies(player)
    house.passes(0.1)
    house.lifecycle.message(house.newest("player"), Started())
    assert house.count("player") == 2 and len(front.heard_of(PlayerLink)) == 2
    situation = front.situation
    assert situation.restarts["player"] == 1
    assert house.count("front") == 1


def test_an_idle_player_ends_and_the_next_text_starts_another() -> None:
    house = House()
    front, player = wanted(house)
    house.dies(player, status=0)
    house.passes(60)
    assert house.count("player") == 1
    house.lifecycle.message(front, PlayerWanted())
    assert house.count("player") == 2


def test_a_new_front_is_linked_with_the_player_that_lives_on() -> None:
    house = House()
    front, player = wanted(house)
    house.lifecycle.message(front, ChildProgress())
    house.dies(front)
    house.passes(0.1)
    successor = house.newest("front")
    house.lifecycle.message(successor, Started())
    assert house.count("player") == 1
    assert len(successor.heard_of(PlayerLink)) == 1 and len(player.heard_of(PlayerLink)) == 2


def test_a_player_that_keeps_dying_is_given_up_and_tried_for_the_next_text() -> None:
    house = House()
    front, player = wanted(house)
    for _ in range(60):
        house.dies(player, status=1)
        house.passes(6)
        if house.newest("player") is player:
            break
        player = house.newest("player")
    situation = front.situation
    assert "keeps dying" in situation.player_reason
    house.lifecycle.message(front, PlayerWanted())
    assert house.newest("player") is not player


def test_the_player_ends_with_the_server() -> None:
    house = House()
    front, player = wanted(house)
    house.lifecycle.signal(signal.SIGTERM)
    house.dies(front, status=0)
    house.dies(house.newest("worker"), status=0)
    assert house.lifecycle.exit_code is None, "the player has not ended"
    house.dies(player, status=0)
    assert house.lifecycle.exit_code == 0 and house.count("player") == 1
