"""The interface through which the HTTP side reaches the player of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from shm.playing import Change, Item, PlayedWord, PlayerState, Verb, WhenBusy


class PlayerControl(Protocol):
    """The player, running or not."""

    key: str
    """The API key with which the player itself passes the gate."""

    @property
    def state(self) -> PlayerState:
        """The last known state."""
        ...

    async def play(self, item: Item, on_busy: WhenBusy) -> int:
        """Give the player an item, and start the player if none runs; returns the number of items before this one.

        Raises:
            ApiError: 501, there is no sound card; 503, the player can't be started.
        """
        ...

    async def steer(self, verb: Verb) -> None:
        """Obey a command. Without a player there is nothing to obey.

        Raises:
            ApiError: 503, the player doesn't answer.
        """
        ...

    async def remove(self, name: str) -> None:
        """End the item of that id if it is being played, or take it out of the queue; the others stay.

        Raises:
            ApiError: 404, the player has no such item; 503, the player doesn't answer.
        """
        ...

    async def change(self, change: Change) -> None:
        """Change speed, voice, volume or place.

        Raises:
            ApiError: 409, nothing is being played; 400, the place is beyond the end; 503, the player doesn't answer.
        """
        ...

    def events(self) -> AsyncIterator[PlayerState | PlayedWord]:
        """The state now, and each change of it and each word from now on. The oldest are dropped for a slow reader."""
        ...
