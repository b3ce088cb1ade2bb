"""Workers that finish their streams, each until every front has let it go."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery


@dataclass(eq=False)
class _Retired:
    child: Incarnation
    slot: int
    awaited: set[int]
    """Fronts that haven't said yet that they have nothing left there."""


class Retired:
    """By generation."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self._workers: dict[int, _Retired] = {}

    def add(self, child: Incarnation, slot: int, fronts: Set[int]) -> None:
        """It gets no new segments; those fronts may have some there."""
        self._workers[child.generation] = _Retired(child, slot, set(fronts))
        self._end_if_idle(child.generation)

    def idle(self, front: int, generation: int) -> None:
        """That front has nothing left with that generation."""
        if retired := self._workers.get(generation):
            retired.awaited.discard(front)
            self._end_if_idle(generation)

    def front_gone(self, front: int) -> None:
        for generation in list(self._workers):
            self.idle(front, generation)

    def _end_if_idle(self, generation: int) -> None:
        retired = self._workers[generation]
        if not retired.awaited:
            self._nursery.end(retired.child)

    def pop(self, generation: int) -> Incarnation | None:
        """It has ended, or is to be ended; None if it isn't one of these."""
        retired = self._workers.pop(generation, None)
        return retired.child if retired else None

    def __iter__(self) -> Iterator[tuple[Incarnation, int]]:
        """Each with its slot."""
        yield from ((retired.child, retired.slot) for retired in self._workers.values())

    def stop(self) -> None:
        """No front is left."""
        for retired in self._workers.values():
            self._nursery.end(retired.child)
