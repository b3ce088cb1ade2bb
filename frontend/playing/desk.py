"""The player as clients use it: each command waits for the player's answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable

import msgspec
from msgspec import UNSET

from frontend.contract.errors import ApiError
from frontend.monitoring.report import Player
from frontend.playing.line import Asking, PlayerLine, unavailable
from shm.listeners import own_address
from shm.playing import Change, Extend, Item, Play, PlayedWord, PlayerAnswer, PlayerState, Remove, Steer, Verb, WhenBusy

# The address at which processes of this machine reach the server.


def reachable(listener: socket.socket) -> str:
    """The URL of the server that accepts connections from this socket."""
    host, port, *_ = own_address(listener)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


ANSWER_SECONDS = 30.0
"""Seconds in which a player must answer, its start and the opening of the device included."""

_STATUSES = {"nothing_playing": 409, "not_found": 404, "queue_full": 429, "no_sound_card": 501}
"""HTTP statuses of a player's refusals, by their codes; the others are 400."""


class PlayDesk:
    """The player of this machine, as the front's operations reach it."""

    def __init__(self, line: PlayerLine) -> None:
        self.key = line.key
        """The API key with which the player itself passes the gate."""
        self._line = line
        self._extending = asyncio.Lock()
        """Held while a text is extended: what it has become is known with the player's answer."""

    @property
    def state(self) -> PlayerState:
        """The last state, with the time that has passed since."""
        return self._line.audience.state

    async def play(self, item: Item, on_busy: WhenBusy) -> int:
        """Give the player an item, and start the player if none runs; returns the number of items before this one.

        Raises:
            ApiError: 501, there is no sound card; 503, the player can't be started.
        """
        self._line.want()
        return (await self._ask(Play(self._number(), item, on_busy))).place

    async def extend(self, name: str, longer: Callable[[Item], Item]) -> None:
        """Give an item more of its text, or its end: `longer` returns the item afterwards.

        Raises:
            ApiError: 404, the player has no such item; 503, the player doesn't answer.
        """
        async with self._extending:
            item = self._line.journal.items.get(name)
            if item is None or item.rest is None:
                message = "There is no such text that goes on: it was played, ended, or never taken."
                raise ApiError(404, message, param="id", code="not_found")
            await self._ask(Extend(self._number(), longer(item)))

    async def steer(self, verb: Verb) -> None:
        """Obey a command. Without a player there is nothing to obey.

        Raises:
            ApiError: 503, the player doesn't answer.
        """
        if self._line.is_used:
            await self._ask(Steer(self._number(), verb))

    async def change(self, change: Change) -> None:
        """Change speed, voice, volume or place.

        Raises:
            ApiError: 409, nothing is being played; 400, the place is beyond the end; 503, the player doesn't answer.
        """
        if self._line.is_used:
            await self._ask(msgspec.structs.replace(change, number=self._number()))
        elif any(each is not None for each in (change.speed, change.voice, change.seek, change.sentence)):
            raise ApiError(409, "Nothing is being played.", code="nothing_playing")
        elif change.volume is not None:
            self._line.take(msgspec.structs.replace(self.state, volume=change.volume))

    async def remove(self, name: str) -> None:
        """End the item of that id if it is being played, or take it out of the queue; the others stay.

        Raises:
            ApiError: 404, the player has no such item; 503, the player doesn't answer.
        """
        if not self._line.is_used:
            raise ApiError(404, "There is no such text: nothing is being played.", param="id", code="not_found")
        await self._ask(Remove(self._number(), name))

    def events(self) -> AsyncIterator[PlayerState | PlayedWord]:
        """The state now, and each change of it and each word from now on. The oldest are dropped for a slow reader."""
        return self._line.audience.events()

    def report(self) -> Player:
        line, state = self._line, self.state
        found = Player(state.state.value, len(state.queue))
        if line.output is not None:
            found.output = line.output
            found.reason = line.reason or UNSET
        return found

    def _number(self) -> int:
        return next(self._line.unanswered.numbers)

    async def _ask(self, message: Asking) -> PlayerAnswer:
        answered = self._line.unanswered.add(message)
        try:
            self._line.tell_player(message)
            answer = await asyncio.wait_for(answered, ANSWER_SECONDS)
        except TimeoutError as error:
            raise unavailable(f"The player doesn't answer within {ANSWER_SECONDS:.0f} seconds.") from error
        finally:
            self._line.unanswered.forget(message)
        if answer.refusal:
            status = _STATUSES.get(answer.code, 400)
            param = {400: "seek", 404: "id"}.get(status)
            raise ApiError(status, answer.refusal, param=param, code=answer.code)
        return answer
