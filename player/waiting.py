"""The queue of items that wait for their turn."""

from __future__ import annotations

from collections.abc import Iterator

from shm.playing import Item, WhenBusy


class WaitingItems:
    """Items in the order in which they will be played."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, item: Item, on_busy: WhenBusy, busy: bool) -> int:
        """Take an item; returns the number of items before it, the playing one included.

        Args:
            busy: an item is being played. An interrupting item is then put before all others; the caller ends the
                playing one.
        """
        if on_busy is WhenBusy.QUEUE:
            self._items.append(item)
            return len(self._items) - 1 + busy
        self._items.insert(0, item)
        return int(busy and on_busy is WhenBusy.NEXT)

    def take(self) -> Item | None:
        """Remove the next item; None if none waits."""
        return self._items.pop(0) if self._items else None

    def remove(self, name: str) -> bool:
        """Remove the item of that id; False if it doesn't wait."""
        before = len(self._items)
        self._items = [item for item in self._items if item.id != name]
        return len(self._items) < before

    @property
    def next(self) -> Item | None:
        return self._items[0] if self._items else None

    def clear(self) -> None:
        self._items.clear()

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
