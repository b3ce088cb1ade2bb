"""The player process between a supervisor and a front, with a sound card that the test takes away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import ClassVar

import pytest

from player.process import PlayerProcess
from shm.control import ControlSocket
from shm.duplex import Duplex
from shm.messages import PlayerLink
from shm.playing import (
    MAX_MESSAGE_BYTES,
    FromPlayer,
    Greeting,
    Item,
    Play,
    PlayerAnswer,
    PlayerState,
    Playing,
    Steer,
    Verb,
    Welcome,
    WhenBusy,
    decode_from_player,
    encode,
)
from tests.player.fakes import Cards


class Front:
    """The other end of the player's channel."""

    def __init__(self, fd: int) -> None:
        self.heard: list[FromPlayer] = []
        self._news = asyncio.Event()
        self._link = Duplex(fd, decode_from_player, MAX_MESSAGE_BYTES, self._hear, lambda: None)
        self._link.send(encode(Welcome("http://127.0.0.1:1", "key")))

    def _hear(self, message: FromPlayer) -> None:
        self.heard.append(message)
        self._news.set()

    async def answer(self, message: Play | Steer) -> PlayerAnswer:
        self._link.send(encode(message))
        return await self.told(lambda heard: isinstance(heard, PlayerAnswer) and heard.number == message.number)  # type: ignore[return-value]

    async def told(self, wanted: Callable[[FromPlayer], bool]) -> FromPlayer:
        async with asyncio.timeout(30):
            while not (found := [each for each in self.heard if wanted(each)]):
                self._news.clear()
                await self._news.wait()
        return found[0]

    def close(self) -> None:
        self._link.close()


class Watch:
    """Sees the machine sleep once, when the test says."""

    has_slept = False

    def slept(self) -> bool:
        slept, Watch.has_slept = Watch.has_slept, False
        return slept


@pytest.fixture
async def house(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Cards, Front]]:
    monkeypatch.setattr("player.process.SleepWatch", Watch)
    monkeypatch.setattr("player.process.WATCH_SECONDS", 0.01)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
    cards = Cards()
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    supervisor = ControlSocket(ours)
    process = PlayerProcess(ControlSocket(theirs), cards)
    serving = asyncio.create_task(process.serve())
    near, far = socket.socketpair()
    supervisor.send(PlayerLink(), (far.fileno(),))
    front = Front(near.detach())
    greeting = await front.told(lambda heard: isinstance(heard, Greeting))
    assert isinstance(greeting, Greeting) and greeting.output == "fake"
    yield cards, front
    ours.close()
    async with asyncio.timeout(30):
        await serving
    front.close()
    for end in (far, theirs):
        end.close()


def play(number: int, on_busy: WhenBusy = WhenBusy.INTERRUPT) -> Play:
    return Play(number, Item(id=f"i{number}", input="Hello.", voice="v", speed=1.0), on_busy)


async def test_a_card_that_is_gone_at_the_first_sound_is_a_refusal(house: tuple[Cards, Front]) -> None:
    cards, front = house
    assert not (await front.answer(play(1))).refusal
    await front.answer(Steer(2, Verb.STOP))
    cards.there = False
    refused = await front.answer(play(3))
    assert refused.code == "no_sound_card" and "nothing is plugged in" in refused.refusal
    states = [each for each in front.heard if isinstance(each, PlayerState)]
    assert states[-1].id is None, "nothing waits for a card"
    cards.there = True
    await front.answer(Steer(4, Verb.STOP))
    assert not (await front.answer(play(5))).refusal


async def test_a_text_behind_another_waits_for_a_card_that_is_gone(house: tuple[Cards, Front]) -> None:
    cards, front = house
    await front.answer(play(1))
    await front.answer(Steer(2, Verb.PAUSE))
    cards.there = False
    assert not (await front.answer(play(3, WhenBusy.QUEUE))).refusal, (
        "the card may come back, and both texts are played then"
    )


async def test_a_machine_that_slept_finds_its_player_paused(house: tuple[Cards, Front]) -> None:
    _, front = house
    await front.answer(play(1))
    Watch.has_slept = True
    await front.told(lambda heard: isinstance(heard, PlayerState) and heard.state is Playing.PAUSED)


async def test_a_process_without_anything_to_play_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("player.process.IDLE_SECONDS", 0.05)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    cards = Cards()
    async with asyncio.timeout(30):
        await PlayerProcess(ControlSocket(theirs), cards).serve()
    assert all(card.closed for card in cards.opened)
    ours.close()
    theirs.close()


class Desktop:
    """The media keys of one process: each time that they were opened, and whether they were closed."""

    opened: ClassVar[list[Desktop]] = []

    def __init__(self, _: object) -> None:
        self.closed = asyncio.Event()
        self.opened.append(self)

    async def open(self) -> str:
        return "fake"

    async def until_lost(self) -> None:
        await self.closed.wait()

    def show(self, _: object) -> None: ...

    def leave_bus(self) -> None:
        self.closed.set()


async def test_an_idle_player_leaves_the_desktop_and_comes_back_with_the_next_text(
    house: tuple[Cards, Front], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, front = house
    monkeypatch.setattr("player.process.MediaKeys", Desktop)
    monkeypatch.setattr("player.process.SHOWN_SECONDS", 0.05)
    Desktop.opened.clear()
    async with asyncio.timeout(30):
        for number in (1, 3):
            assert not (await front.answer(play(number))).refusal
            await front.answer(Steer(number + 1, Verb.STOP))
            shown = Desktop.opened[-1]
            await shown.closed.wait()
    assert len(Desktop.opened) == 2
