"""The front's desk and a player at the other end of a socket pair, who may die."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from frontend.contract.errors import ApiError
from frontend.playing.desk import PlayDesk
from frontend.playing.line import PlayerLine
from shm.duplex import Duplex
from shm.messages import ControlMessage, PlayerWanted
from shm.playing import (
    MAX_MESSAGE_BYTES,
    Change,
    FromPlayer,
    Greeting,
    Held,
    Item,
    Play,
    PlayerAnswer,
    PlayerState,
    Playing,
    QueuedItem,
    Remove,
    Steer,
    ToPlayer,
    Verb,
    Welcome,
    WhenBusy,
    decode_to_player,
    encode,
)


class Desk(PlayDesk):
    def __init__(self, line: PlayerLine) -> None:
        super().__init__(line)
        self.line = line


class ScriptedPlayer:
    """Keeps what it is told."""

    def __init__(self, desk: Desk) -> None:
        ours, theirs = socket.socketpair()
        desk.line.linked(theirs.detach())
        self.heard: list[ToPlayer] = []
        self.link = Duplex(ours.detach(), decode_to_player, MAX_MESSAGE_BYTES, self.heard.append, lambda: None)

    def say(self, *messages: FromPlayer) -> None:
        for message in messages:
            self.link.send(encode(message))

    def greet(self, state: PlayerState | None = None, held: tuple[Item, ...] = (), output: str = "card") -> None:
        self.say(Greeting(output, "" if output else "no card"), *map(Held, held), state or PlayerState())

    async def told(self, kind: type, count: int = 1) -> list[ToPlayer]:
        return await eventually(lambda: [each for each in self.heard if isinstance(each, kind)], count)


async def eventually(look: Callable[[], list[ToPlayer]], count: int) -> list[ToPlayer]:
    async with asyncio.timeout(30):
        while len(look()) < count:  # noqa: ASYNC110 - the loop's own socket brings it
            await asyncio.sleep(0.001)
    return look()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - the loop's own socket brings it
            await asyncio.sleep(0.001)


def desk_of() -> tuple[Desk, list[ControlMessage]]:
    said: list[ControlMessage] = []
    return Desk(PlayerLine(said.append, "http://here")), said


def item(name: str) -> Item:
    return Item(id=name, input=f"Text {name}.", voice="v", speed=1.0)


def waits(name: str) -> QueuedItem:
    return QueuedItem(name, "", "", 6, "v")


async def taken(desk: Desk, player: ScriptedPlayer, name: str, count: int) -> int:
    playing = asyncio.create_task(desk.play(item(name), WhenBusy.QUEUE))
    message = (await player.told(Play, count))[-1]
    assert isinstance(message, Play) and message.item.id == name
    player.say(PlayerAnswer(message.number, place=count - 1))
    return await playing


async def test_the_first_text_starts_a_player_and_waits_for_it() -> None:
    desk, said = desk_of()
    playing = asyncio.create_task(desk.play(item("a"), WhenBusy.INTERRUPT))
    await asyncio.sleep(0)
    assert said == [PlayerWanted()]
    player = ScriptedPlayer(desk)
    (welcome,) = await player.told(Welcome)
    assert isinstance(welcome, Welcome) and welcome.key == desk.line.key
    player.greet()
    (message,) = await player.told(Play)
    assert isinstance(message, Play)
    player.say(PlayerAnswer(message.number, place=0))
    assert await playing == 0
    desk.line.leave_player()
    player.link.close()


async def test_a_machine_without_a_card_refuses_and_sends_nothing() -> None:
    desk, _ = desk_of()
    playing = asyncio.create_task(desk.play(item("a"), WhenBusy.INTERRUPT))
    await asyncio.sleep(0)
    player = ScriptedPlayer(desk)
    player.greet(output="")
    with pytest.raises(ApiError) as refusal:
        await playing
    assert (refusal.value.status, refusal.value.code) == (501, "no_sound_card")
    assert "no card" in refusal.value.message and desk.report().output == ""
    assert not [each for each in player.heard if isinstance(each, Play)]
    desk.line.leave_player()
    player.link.close()


async def test_the_next_player_gets_what_the_dead_one_held() -> None:
    desk, _ = desk_of()
    first = ScriptedPlayer(desk)
    first.greet()
    await taken(desk, first, "a", 1)
    await taken(desk, first, "b", 2)
    state = PlayerState(
        state=Playing.PAUSED, id="a", sentence_number=4, speed=1.5, voice="w", queue=(waits("b"),), volume=0.5
    )
    first.say(state)
    async with asyncio.timeout(30):
        while desk.state.id != "a":  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    first.link.close()
    second = ScriptedPlayer(desk)
    second.greet()
    plays = await second.told(Play, 2)
    assert [(each.item.id, each.sentence, each.paused) for each in plays if isinstance(each, Play)] == [
        ("a", 4, True),
        ("b", 0, False),
    ]
    assert isinstance(plays[0], Play) and (plays[0].item.speed, plays[0].item.voice) == (1.5, "w")
    assert isinstance(second.heard[0], Welcome) and second.heard[0].volume == 0.5
    desk.line.leave_player()
    second.link.close()


async def test_a_queue_survives_players_that_die_while_they_take_it() -> None:
    desk, _ = desk_of()
    first = ScriptedPlayer(desk)
    first.greet()
    for count, name in enumerate("abc", 1):
        await taken(desk, first, name, count)
    first.say(PlayerState(state=Playing.PLAYING, id="a", sentence_number=2, queue=(waits("b"), waits("c"))))
    await until(lambda: desk.state.id == "a")
    first.link.close()
    second = ScriptedPlayer(desk)
    second.greet()
    plays = await second.told(Play, 3)
    second.say(PlayerState(), PlayerState(device="card"))  # sent before it has read them
    second.say(PlayerState(state=Playing.BUFFERING, id="a", sentence_number=2), PlayerAnswer(plays[0].number))
    await until(lambda: desk.state.state is Playing.BUFFERING)
    second.link.close()
    third = ScriptedPlayer(desk)
    third.greet()
    again = await third.told(Play, 3)
    assert [(each.item.id, each.sentence) for each in again if isinstance(each, Play)] == [("a", 2), ("b", 0), ("c", 0)]
    third.say(*(PlayerAnswer(each.number) for each in again if isinstance(each, Play)), PlayerState())
    await until(lambda: desk.state.id is None)
    desk.line.leave_player()
    third.link.close()


async def test_a_text_that_was_accepted_is_given_to_the_next_player() -> None:
    """However soon the player dies after its answer."""
    desk, _ = desk_of()
    first = ScriptedPlayer(desk)
    first.greet()
    playing = asyncio.create_task(desk.play(item("a"), WhenBusy.QUEUE))
    (message,) = await first.told(Play)
    assert isinstance(message, Play)
    first.say(PlayerState(state=Playing.BUFFERING, id="a"), PlayerAnswer(message.number))
    first.link.close()
    assert await playing == 0
    second = ScriptedPlayer(desk)
    second.greet()
    (again,) = await second.told(Play)
    assert isinstance(again, Play) and again.item == item("a")
    desk.line.leave_player()
    second.link.close()


async def test_a_command_that_was_not_answered_is_given_to_the_next_player() -> None:
    desk, said = desk_of()
    first = ScriptedPlayer(desk)
    first.greet()
    await taken(desk, first, "a", 1)
    steering = asyncio.create_task(desk.steer(Verb.SKIP))
    await first.told(Steer)
    first.link.close()
    async with asyncio.timeout(30):
        while not said:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    second = ScriptedPlayer(desk)
    second.greet()
    (steer,) = await second.told(Steer)
    assert isinstance(steer, Steer)
    second.say(PlayerAnswer(steer.number))
    await steering
    desk.line.leave_player()
    second.link.close()


async def test_a_player_that_outlives_a_front_tells_the_next_one_what_it_holds() -> None:
    desk, _ = desk_of()
    player = ScriptedPlayer(desk)
    player.greet(PlayerState(state=Playing.PLAYING, id="a", sentence="Hi.", seconds=1.0), (item("a"),))
    async with asyncio.timeout(30):
        while desk.state.id != "a":  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert not [each for each in player.heard if isinstance(each, Play)]
    assert (desk.state.seconds or 0) >= 1.0
    desk.line.leave_player()
    player.link.close()


async def test_a_text_may_be_stopped_while_its_player_starts() -> None:
    desk, _ = desk_of()
    playing = asyncio.create_task(desk.play(item("a"), WhenBusy.QUEUE))
    await asyncio.sleep(0)
    stopping = asyncio.create_task(desk.steer(Verb.STOP))
    await asyncio.sleep(0)
    player = ScriptedPlayer(desk)
    player.greet()
    await player.told(Steer)
    play, steer = (each for each in player.heard if not isinstance(each, Welcome))
    assert isinstance(play, Play) and isinstance(steer, Steer)
    player.say(PlayerAnswer(play.number), PlayerAnswer(steer.number))
    assert await playing == 0
    await stopping
    desk.line.leave_player()
    player.link.close()


async def test_one_text_is_removed() -> None:
    desk, _ = desk_of()
    with pytest.raises(ApiError) as nothing:
        await desk.remove("a")
    assert (nothing.value.status, nothing.value.code) == (404, "not_found")
    player = ScriptedPlayer(desk)
    player.greet()
    await taken(desk, player, "a", 1)
    for count, (name, refusal) in enumerate((("a", ""), ("b", "There is no such text.")), 1):
        removing = asyncio.create_task(desk.remove(name))
        message = (await player.told(Remove, count))[-1]
        assert isinstance(message, Remove) and message.id == name
        player.say(PlayerAnswer(message.number, refusal=refusal, code="not_found" if refusal else ""))
        if refusal:
            with pytest.raises(ApiError) as gone:
                await removing
            assert (gone.value.status, gone.value.code) == (404, "not_found")
        else:
            await removing
    desk.line.leave_player()
    player.link.close()


async def test_refusals_have_the_status_of_their_reason() -> None:
    desk, _ = desk_of()
    with pytest.raises(ApiError) as idle:
        await desk.change(Change(speed=2.0))
    assert idle.value.status == 409
    await desk.change(Change(volume=0.4))
    assert desk.state.volume == 0.4
    await desk.steer(Verb.PAUSE)
    playing = asyncio.create_task(desk.play(item("a"), WhenBusy.QUEUE))
    await asyncio.sleep(0)
    desk.line.given_up("it keeps dying")
    with pytest.raises(ApiError) as dead:
        await playing
    assert (dead.value.status, dead.value.code) == (503, "player_unavailable")
