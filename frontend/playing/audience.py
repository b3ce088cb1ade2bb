"""The player's state as clients see it, and the clients that follow it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import msgspec

from shm.playing import PlayedWord, PlayerState, Playing

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
        """Show a new state."""
        self._state, self._at, self._word = state, time.monotonic(), state.word
        self._publish(state)

    def show_word(self, word: PlayedWord) -> None:
        """Show that a word begins to sound."""
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
