"""Messages to the player that clients wait for: they outlive the player that didn't answer them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

from shm.playing import Change, Play, PlayerAnswer, Remove, Steer

Asking = Play | Steer | Change | Remove
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
