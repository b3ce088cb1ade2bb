"""The journal of the player: what it held last, so that the next one can continue at the sentence."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from shm.playing import Item, Play, PlayerState, Playing, WhenBusy


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
