"""The line to the player: a channel while one runs, and the state, journal and messages that outlive it."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec

from frontend.contract.errors import ApiError
from shm.duplex import Duplex
from shm.messages import ControlMessage, PlayerWanted
from shm.playing import (
    MAX_MESSAGE_BYTES,
    Change,
    Extend,
    FromPlayer,
    Greeting,
    Held,
    Item,
    Play,
    PlayedWord,
    PlayerAnswer,
    PlayerState,
    Playing,
    Remove,
    Steer,
    Welcome,
    WhenBusy,
    decode_from_player,
    encode,
)

_REMEMBERED = 256
"""Events kept for a reader of events that is slow; older ones are dropped."""


class Audience:
    """Shows clients the last state and word, and sends each new one to those that follow."""

    def __init__(self) -> None:
        self._state = PlayerState()
        self._word: str | None = None
        self._at = 0.0
        """Monotonic seconds at which the state was true."""
        self._readers: set[asyncio.Queue[PlayerState | PlayedWord]] = set()

    @property
    def state(self) -> PlayerState:
        """The last state, with the time that has passed since."""
        state = self._state
        if state.state is not Playing.PLAYING or state.seconds is None:
            return state
        seconds = round(state.seconds + time.monotonic() - self._at, 3)
        return msgspec.structs.replace(state, seconds=seconds, of=max(state.of or 0.0, seconds), word=self._word)

    def show(self, state: PlayerState) -> None:
        self._state, self._at, self._word = state, time.monotonic(), state.word
        self._publish(state)

    def show_word(self, word: PlayedWord) -> None:
        self._at, self._word = time.monotonic(), word.word
        self._state = msgspec.structs.replace(self._state, seconds=word.seconds, word=word.word)
        self._publish(word)

    async def events(self) -> AsyncIterator[PlayerState | PlayedWord]:
        """The state now, and then each new state and word."""
        queue: asyncio.Queue[PlayerState | PlayedWord] = asyncio.Queue()
        queue.put_nowait(self.state)
        self._readers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._readers.discard(queue)

    def _publish(self, event: PlayerState | PlayedWord) -> None:
        for queue in self._readers:
            if queue.qsize() >= _REMEMBERED:
                queue.get_nowait()
            queue.put_nowait(event)


class Journal:
    """The items that the last state names, and that state."""

    def __init__(self) -> None:
        self.state = PlayerState()
        self.items: dict[str, Item] = {}
        self._given: dict[int, Play] = {}
        """Messages of `resumption` that the player hasn't answered, by their numbers, in order."""

    @property
    def resuming(self) -> bool:
        """True while a new player hasn't taken all items: its states don't name the others yet."""
        return bool(self._given)

    def answered(self, number: int) -> None:
        """Note that the player has answered the message of that number."""
        self._given.pop(number, None)

    def add(self, item: Item) -> None:
        """Keep an item that the player has taken."""
        self.items[item.id] = item

    def note(self, state: PlayerState) -> None:
        """Take a new state; items that it doesn't name have ended, unless they are still on their way to the player."""
        self.state = state
        named = {state.id, *(each.id for each in state.queue), *(play.item.id for play in self._given.values())}
        for ended in [each for each in self.items if each not in named]:
            del self.items[ended]

    def clear(self) -> None:
        """Forget all items."""
        self.items.clear()
        self._given.clear()
        self.state = PlayerState(volume=self.state.volume)

    def resumption(self, numbers: Iterator[int]) -> list[Play]:
        """Messages for a new player, with numbers that no client waits for: the items in order, the first one at its
        sentence, its speed and its voice."""
        state = self.state
        plays: list[Play] = []
        names = (state.id, *(each.id for each in state.queue))
        for name in names:
            item = self.items.get(name or "")
            if item is None:
                continue
            if name == state.id:
                now = msgspec.structs.replace(item, speed=state.speed or item.speed, voice=state.voice or item.voice)
                paused = state.state is Playing.PAUSED
                plays.append(Play(next(numbers), now, WhenBusy.QUEUE, state.sentence_number or 0, paused))
            else:
                plays.append(Play(next(numbers), item, WhenBusy.QUEUE))
        # The last player died before it took these: no state of its names them.
        untaken = [play for play in self._given.values() if play.item.id not in names]
        plays += [msgspec.structs.replace(play, number=next(numbers)) for play in untaken]
        self._given = {play.number: play for play in plays}
        return plays


Asking = Play | Extend | Steer | Change | Remove
"""Messages that the player answers."""


class Unanswered:
    """Messages by their numbers, each with the future of its answer."""

    def __init__(self) -> None:
        self.numbers: Iterator[int] = itertools.count(1)
        """Numbers for messages, each given once."""
        self._asked: dict[int, tuple[Asking, asyncio.Future[PlayerAnswer]]] = {}

    def __bool__(self) -> bool:
        return bool(self._asked)

    @property
    def messages(self) -> list[Asking]:
        """The messages without an answer, in order."""
        return [message for message, answered in self._asked.values() if not answered.done()]

    def add(self, message: Asking) -> asyncio.Future[PlayerAnswer]:
        """Wait for the answer to a message, until it is forgotten."""
        answered: asyncio.Future[PlayerAnswer] = asyncio.get_running_loop().create_future()
        self._asked[message.number] = message, answered
        return answered

    def forget(self, message: Asking) -> None:
        """Wait for that answer no more."""
        self._asked.pop(message.number, None)

    def answer(self, answer: PlayerAnswer) -> Asking | None:
        """Give an answer to the client that waits for it; returns the message, or None if nobody waits."""
        message, answered = self._asked.get(answer.number, (None, None))
        if answered and not answered.done():
            answered.set_result(answer)
        return message

    def refuse(self, error: Exception) -> None:
        """End all waiting with that error."""
        for _, answered in self._asked.values():
            if not answered.done():
                answered.set_exception(error)


log = logging.getLogger(__name__)


class PlayerLine:
    """Has a player started when one is wanted, and gives each new player what the last one left."""

    def __init__(self, tell: Callable[[ControlMessage], None], url: str) -> None:
        """
        Args:
            tell: sends a control message to the supervisor.
            url: the address at which the player reaches this front.
        """
        self.key = secrets.token_urlsafe(24)
        """The key with which the player passes the gate."""
        self.output: str | None = None
        """The output that the last player found; empty if it found none, None before the first."""
        self.reason = ""
        """The reason why it found none."""
        self.audience = Audience()
        self.journal = Journal()
        self.unanswered = Unanswered()
        self._tell = tell
        self._url = url
        self._link: Duplex[FromPlayer] | None = None
        self._greeted = False

    @property
    def is_used(self) -> bool:
        """True if there is a player, or one is being started: its first text may be stopped before it sounds."""
        return bool(self._link or self.journal.items or self.unanswered)

    def want(self) -> None:
        """Have a player started, unless there is one."""
        if self._link is None:
            self._tell(PlayerWanted())

    def tell_player(self, message: Asking) -> None:
        """Send a message whose answer is waited for; a player that hasn't greeted gets it afterwards."""
        if self._link and self._greeted:
            self._link.send(encode(message))

    def take(self, state: PlayerState) -> None:
        if state.device:
            self.output, self.reason = state.device, ""
        self.journal.note(state)
        self.audience.show(state)

    # -- the supervisor

    def linked(self, fd: int) -> None:
        """Take the channel to a player that has started."""
        self.leave_player()
        self._greeted = False
        self._link = Duplex(fd, decode_from_player, MAX_MESSAGE_BYTES, self._hear, self._gone)
        self._link.send(encode(Welcome(self._url, self.key, self.journal.state.volume)))

    def given_up(self, reason: str) -> None:
        """The supervisor starts no player any more, because they keep dying."""
        if reason and (self.unanswered or self.journal.items):
            self.unanswered.refuse(unavailable(f"The player can't be started: {reason}"))
            self.journal.clear()
            self.take(PlayerState(volume=self.journal.state.volume, reason=reason))

    def leave_player(self) -> None:
        """Close the channel; the player continues with the next front."""
        if self._link:
            self._link.close()
            self._link = None

    # -- the player

    def _hear(self, message: FromPlayer) -> None:
        match message:
            case Greeting():
                self._greet(message)
            case Held(item):
                self.journal.add(item)
            case PlayerAnswer():
                self.journal.answered(message.number)
                asked = self.unanswered.answer(message)
                if isinstance(asked, Play | Extend) and not message.refusal:
                    self.journal.add(asked.item)  # at once: the next message may be the player's last
                elif message.code == "no_sound_card":
                    self.output, self.reason = "", message.refusal
            case PlayerState(id=None) if self._greeted and self.journal.resuming:
                pass  # it has taken nothing yet
            case PlayerState():
                if self._greeted or not self._resume(message):
                    self.take(message)
            case PlayedWord():
                self.audience.show_word(message)

    def _greet(self, greeting: Greeting) -> None:
        self.output, self.reason = greeting.output, greeting.reason
        if not greeting.output:
            message = f"This machine has no output for sound: {greeting.reason}."
            self.unanswered.refuse(ApiError(501, message, code="no_sound_card"))
            self.journal.clear()

    def _resume(self, state: PlayerState) -> bool:
        """Give a new player the items that the last one held, and then the messages that it has not answered; returns
        True if there were items.

        A player that outlived the last front holds its items itself.
        """
        self._greeted = True
        lost = self.journal.resumption(self.unanswered.numbers) if state.id is None else []
        if lost:
            log.info("the player is to continue with %d items", len(lost))
        for message in (*lost, *self.unanswered.messages):
            self.tell_player(message)
        return bool(lost)

    def _gone(self) -> None:
        self._link, self._greeted = None, False
        if self.unanswered:
            self.want()
        if self.journal.items:
            self.take(msgspec.structs.replace(self.audience.state, device=None))


def unavailable(reason: str) -> ApiError:
    """The error of a request that needs a player, while there is none."""
    return ApiError(503, reason, code="player_unavailable", headers={"Retry-After": "1"})
