"""The player's channel to the front that serves, and that front's address for requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from shm.duplex import Duplex
from shm.playing import MAX_MESSAGE_BYTES, FromPlayer, ToPlayer, Welcome, decode_to_player, encode


class FrontLink:
    """One front at a time; each new one is greeted before it is told anything else."""

    def __init__(self, greeting: Callable[[], Sequence[FromPlayer]], hear: Callable[[ToPlayer], None]) -> None:
        """
        Args:
            greeting: gives the messages of the greeting; none before it is known what there is to play with.
            hear: called with each message of the front's.
        """
        self._greeting = greeting
        self._hear_message = hear
        self._channel: Duplex[ToPlayer] | None = None
        self._greeted = False
        self._welcome: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()

    async def known(self) -> Welcome:
        """Wait until a front is known; returns its address and key."""
        return await asyncio.shield(self._welcome)

    def take(self, fd: int) -> None:
        """Take the channel to the next front."""
        if self._channel:
            self._channel.close()
            self._lost()  # its key is none of the next front's
        self._channel = Duplex(fd, decode_to_player, MAX_MESSAGE_BYTES, self._hear, self._lost)
        self._greeted = False
        self.greet()

    def greet(self) -> None:
        """Greet the front, unless that was done or can't be done yet."""
        messages = self._greeting() if self._channel and not self._greeted else ()
        if messages:
            self._greeted = True
            for message in messages:
                self.tell_front(message)

    def tell_front(self, message: FromPlayer) -> None:
        """Tell the front, once it was greeted; a front that is gone or not greeted yet learns it by the greeting."""
        if self._channel and self._greeted:
            self._channel.send(encode(message))

    def _lost(self) -> None:
        """The front is gone; the supervisor links the next one."""
        self._channel = None
        self._forget_welcome()

    def _forget_welcome(self) -> None:
        if self._welcome.done():
            self._welcome = asyncio.get_running_loop().create_future()

    def _hear(self, message: ToPlayer) -> None:
        if isinstance(message, Welcome):
            self._forget_welcome()
            self._welcome.set_result(message)
        self._hear_message(message)
