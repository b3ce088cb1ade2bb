"""The worker generations that this front knows, and which of them new segments go to.

While several engines are there, whoever comes hears the best: a slot that came back with a lesser one (espeak-ng after
Kokoro's files have gone, say) changes nobody's voice. A slot that is being restarted counts as what it was until it is
known to be something else, or given up.
"""

from __future__ import annotations

from collections.abc import Collection

from frontend.streams.link import Link
from shm.engine_info import EngineInfo


class Links:
    """In each slot, the newest generation is the current one; others finish what they have."""

    def __init__(self) -> None:
        self._by_generation: dict[int, Link] = {}
        self._current: dict[int, Link] = {}
        """By slot."""
        self._last: dict[int, EngineInfo] = {}
        """What each slot speaks with, or did before it died; the newest at the end."""
        self._alike: dict[tuple[object, ...], list[Link]] = {}
        """What `that_sound_like` has found since a link came or went: it is asked for each stream at each turn."""

    def add(self, link: Link) -> None:
        self._by_generation[link.generation] = link
        self._current[link.slot] = link
        self._last.pop(link.slot, None)
        self._last[link.slot] = link.engine
        self._alike.clear()

    def drop(self, link: Link) -> None:
        """It is dead or has ended."""
        del self._by_generation[link.generation]
        if self._current.get(link.slot) is link:
            del self._current[link.slot]
        self._alike.clear()

    def find(self, generation: int) -> Link | None:
        return self._by_generation.get(generation)

    @property
    def all(self) -> list[Link]:
        return list(self._by_generation.values())

    @property
    def current(self) -> list[Link]:
        """In the order of their slots."""
        return [self._current[slot] for slot in sorted(self._current)]

    def give_up(self, slots: Collection[int]) -> None:
        """These aren't started again: nobody waits for what they spoke with, while anything else is there."""
        for slot in slots:
            if len(self._last) > 1:
                self._last.pop(slot, None)

    @property
    def voice(self) -> EngineInfo | None:
        """Who speaks to whoever comes now, or spoke a moment ago and is being restarted: the best engine, and of equals
        the newest. Of several workers that have it, the first one's."""
        best = max(reversed(self._last.values()), key=lambda engine: engine.rank, default=None)
        return next((link.engine for link in self.current if best and sound_alike(link.engine, best)), best)

    def that_sound_like(self, engine: EngineInfo) -> list[Link]:
        """Where a stream that began with that engine goes on: its samples must not change their voice midway."""
        voice = _sound(engine)
        if voice not in self._alike:
            current = [link for link in self.current if sound_alike(link.engine, engine)]
            finishing = [link for link in self._by_generation.values() if sound_alike(link.engine, engine)]
            self._alike[voice] = current or finishing[:1]
        return self._alike[voice]


def sound_alike(one: EngineInfo, other: EngineInfo) -> bool:
    """The same model with the same voices, whatever runs it."""
    return _sound(one) == _sound(other)


def _sound(engine: EngineInfo) -> tuple[object, ...]:
    return engine.name, engine.model, engine.model_sha256, engine.voices, engine.voices_sha256
