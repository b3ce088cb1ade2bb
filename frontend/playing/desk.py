"""The player as the front knows it: a channel while one runs, and a journal that outlives it."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable

import msgspec
from msgspec import UNSET

from frontend.contract.errors import ApiError
from frontend.monitoring.status.report import Player
from frontend.playing.journal import Journal
from shm.duplex import Duplex
from shm.messages import ControlMessage, PlayerWanted
from shm.playing import (
    MAX_MESSAGE_BYTES,
    Answer,
    Change,
    FromPlayer,
    Greeting,
    Held,
    Item,
    Play,
    Playing,
    Remove,
    State,
    Steer,
    Verb,
    Welcome,
    WhenBusy,
    Word,
    decode_from_player,
    encode,
)

ANSWER_SECONDS = 30.0
"""Seconds in which a player must answer, its start and the opening of the device included."""

_STATUSES = {"nothing_playing": 409, "not_found": 404, "queue_full": 429, "no_sound_card": 501}
"""HTTP statuses of a player's refusals, by their codes; the others are 400."""

_Asking = Play | Steer | Change | Remove
"""Messages that the player answers."""

_REMEMBERED = 256
"""Events kept for a reader of events that is slow; older ones are dropped."""

log = logging.getLogger(__name__)


class PlayDesk:
    """Implements `frontend.contract.player.Player`."""

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
        self._tell = tell
        self._url = url
        self._journal = Journal()
        self._word: str | None = None
        self._at = 0.0
        """Monotonic seconds at which the state was true."""
        self._link: Duplex[FromPlayer] | None = None
        self._greeted = False
        self._numbers = itertools.count(1)
        self._asked: dict[int, tuple[_Asking, asyncio.Future[Answer]]] = {}
        self._readers: set[asyncio.Queue[State | Word]] = set()

    # -- for clients

    @property
    def state(self) -> State:
        """Implements `Player.state`: the last state, with the time that has passed since."""
        state = self._journal.state
        if state.state is not Playing.PLAYING or state.seconds is None:
            return state
        seconds = round(state.seconds + time.monotonic() - self._at, 3)
        return msgspec.structs.replace(state, seconds=seconds, of=max(state.of or 0.0, seconds), word=self._word)

    async def play(self, item: Item, on_busy: WhenBusy) -> int:
        """Implements `Player.play`."""
        if self._link is None:
            self._tell(PlayerWanted())
        return (await self._ask(Play(next(self._numbers), item, on_busy))).place

    async def steer(self, verb: Verb) -> None:
        """Implements `Player.steer`."""
        if self._is_used:
            await self._ask(Steer(next(self._numbers), verb))

    async def change(self, change: Change) -> None:
        """Implements `Player.change`."""
        if self._is_used:
            await self._ask(msgspec.structs.replace(change, number=next(self._numbers)))
        elif any(each is not None for each in (change.speed, change.voice, change.seek, change.sentence)):
            raise ApiError(409, "Nothing is being played.", code="nothing_playing")
        elif change.volume is not None:
            self._take_state(msgspec.structs.replace(self._journal.state, volume=change.volume))

    async def remove(self, name: str) -> None:
        """Implements `Player.remove`."""
        if not self._is_used:
            raise ApiError(404, "There is no such text: nothing is being played.", param="id", code="not_found")
        await self._ask(Remove(next(self._numbers), name))

    async def events(self) -> AsyncIterator[State | Word]:
        """Implements `Player.events`."""
        queue: asyncio.Queue[State | Word] = asyncio.Queue()
        queue.put_nowait(self.state)
        self._readers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._readers.discard(queue)

    @property
    def _is_used(self) -> bool:
        """True if there is a player, or one is being started: its first text may be stopped before it sounds."""
        return bool(self._link or self._journal.items or self._asked)

    async def _ask(self, message: _Asking) -> Answer:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[message.number] = message, answered
        try:
            if self._greeted:
                self._send(message)
            answer = await asyncio.wait_for(answered, ANSWER_SECONDS)
        except TimeoutError as error:
            message_for_client = f"The player doesn't answer within {ANSWER_SECONDS:.0f} seconds."
            raise _unavailable(message_for_client) from error
        finally:
            self._asked.pop(message.number, None)
        if answer.code == "no_sound_card":
            self.output, self.reason = "", answer.refusal
        if answer.refusal:
            status = _STATUSES.get(answer.code, 400)
            param = {400: "seek", 404: "id"}.get(status)
            raise ApiError(status, answer.refusal, param=param, code=answer.code)
        return answer

    def report(self) -> Player:
        """The player, for `/status`."""
        state = self._journal.state
        found = Player(state.state.value, len(state.queue))
        if self.output is not None:
            found.output = self.output
            found.reason = self.reason or UNSET
        return found

    # -- the supervisor

    def linked(self, fd: int) -> None:
        """Take the channel to a player that has started."""
        if self._link:
            self._link.close()
        self._greeted = False
        self._link = Duplex(fd, decode_from_player, MAX_MESSAGE_BYTES, self._hear, self._gone)
        self._send(Welcome(self._url, self.key, self._journal.state.volume))

    def given_up(self, reason: str) -> None:
        """The supervisor starts no player any more, because they keep dying."""
        if reason and (self._asked or self._journal.items):
            self._refuse(_unavailable(f"The player can't be started: {reason}"))
            self._journal.clear()
            self._take_state(State(volume=self._journal.state.volume, reason=reason))

    def close(self) -> None:
        """Close the channel; the player goes on with the next front."""
        if self._link:
            self._link.close()
            self._link = None

    # -- the player

    def _send(self, message: Welcome | _Asking) -> None:
        if self._link:
            self._link.send(encode(message))

    def _hear(self, message: FromPlayer) -> None:
        match message:
            case Greeting():
                self._greet(message)
            case Held(item):
                self._journal.add(item)
            case Answer():
                self._journal.answered(message.number)
                asked, answered = self._asked.get(message.number, (None, None))
                if isinstance(asked, Play) and not message.refusal:
                    self._journal.add(asked.item)  # at once: the next message may be the player's last
                if answered and not answered.done():
                    answered.set_result(message)
            case State(id=None) if self._greeted and self._journal.resuming:
                pass  # it has taken nothing yet
            case State():
                if self._greeted or not self._resume(message):
                    self._take_state(message)
            case Word():
                self._word, self._at = message.word, time.monotonic()
                self._journal.state = msgspec.structs.replace(
                    self._journal.state, seconds=message.seconds, word=message.word
                )
                self._publish(message)

    def _greet(self, greeting: Greeting) -> None:
        self.output, self.reason = greeting.output, greeting.reason
        if not greeting.output:
            message = f"This machine has no output for sound: {greeting.reason}."
            self._refuse(ApiError(501, message, code="no_sound_card"))
            self._journal.clear()

    def _resume(self, state: State) -> bool:
        """Give a new player the items that the last one held, and then the messages that it has not answered; returns
        True if there were items.

        A player that outlived the last front holds its items itself.
        """
        self._greeted = True
        lost = self._journal.resumption(self._numbers) if state.id is None else []
        if lost:
            log.info("the player is to continue with %d items", len(lost))
        waiting = [message for message, answered in self._asked.values() if not answered.done()]
        for message in (*lost, *waiting):
            self._send(message)
        return bool(lost)

    def _gone(self) -> None:
        self._link, self._greeted = None, False
        if self._asked:
            self._tell(PlayerWanted())
        if self._journal.items:
            self._take_state(msgspec.structs.replace(self._journal.state, device=None))

    def _refuse(self, error: Exception) -> None:
        for _, answered in self._asked.values():
            if not answered.done():
                answered.set_exception(error)

    def _take_state(self, state: State) -> None:
        self._at, self._word = time.monotonic(), state.word
        if state.device:
            self.output, self.reason = state.device, ""
        if self._greeted or self._link is None:
            self._journal.note(state)
        self._publish(state)

    def _publish(self, event: State | Word) -> None:
        for queue in self._readers:
            if queue.qsize() >= _REMEMBERED:
                queue.get_nowait()
            queue.put_nowait(event)


def _unavailable(reason: str) -> ApiError:
    return ApiError(503, reason, code="player_unavailable", headers={"Retry-After": "1"})
