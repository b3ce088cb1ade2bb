"""The journal of the player: what it held last, so that the next one can continue at the sentence."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from shm.playing import Item, Play, Playing, State, WhenBusy


class Journal:
    """The items that the last state names, and that state."""

    def __init__(self) -> None:
        self.state = State()
        self.items: dict[str, Item] = {}

    def add(self, item: Item) -> None:
        """Keep an item that the player has taken."""
        self.items[item.id] = item

    def note(self, state: State) -> None:
        """Take a new state; items that it doesn't name have ended."""
        self.state = state
        named = {state.id, *(each.id for each in state.queue)}
        for ended in [each for each in self.items if each not in named]:
            del self.items[ended]

    def clear(self) -> None:
        """Forget all items."""
        self.items.clear()
        self.state = State(volume=self.state.volume)

    def resumption(self, numbers: Iterator[int]) -> list[Play]:
        """Messages for a new player, with numbers that no client waits for: the items in order, the first one at its
        sentence, its speed and its voice."""
        state, plays = self.state, []
        for name in (state.id, *(each.id for each in state.queue)):
            item = self.items.get(name or "")
            if item is None:
                continue
            if name == state.id:
                now = msgspec.structs.replace(item, speed=state.speed or item.speed, voice=state.voice or item.voice)
                paused = state.state is Playing.PAUSED
                plays.append(Play(next(numbers), now, WhenBusy.QUEUE, state.sentence_number or 0, paused))
            else:
                plays.append(Play(next(numbers), item, WhenBusy.QUEUE))
        return plays
