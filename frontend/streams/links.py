"""The worker generations that this front knows, and the ones that new segments go to.

If several engines are connected, every new stream gets the best one: a slot that came back with a lesser engine
(espeak-ng after Kokoro's files were removed, say) changes no stream's voice. A slot that is being restarted counts as
its last engine, until it comes back with another one or is given up.
"""

from __future__ import annotations

from collections.abc import Collection

from frontend.streams.link import Link
from shm.engine_info import EngineInfo


class Links:
    """Links by generation. A slot's newest generation is its current one; older ones finish their streams."""

    def __init__(self) -> None:
        self._by_generation: dict[int, Link] = {}
        self._current: dict[int, Link] = {}
        """Current link by slot."""
        self._last: dict[int, EngineInfo] = {}
        """Each slot's engine, or its last one before the worker died; the newest at the end."""
        self.ring_seconds = 0.0
        """Length of a ring, the same for all generations; 0 before the first one."""
        self._alike: dict[tuple[object, ...], list[Link]] = {}
        """Cached results of `that_sound_like`, cleared when a link is added or dropped: every turn asks for every
        stream."""

    def add(self, link: Link) -> None:
        """Take in a new generation, which replaces the current one of its slot."""
        self.ring_seconds = link.ring_seconds
        self._by_generation[link.generation] = link
        self._current[link.slot] = link
        self._last.pop(link.slot, None)
        self._last[link.slot] = link.engine
        self._alike.clear()

    def remember(self, slot: int, engine: EngineInfo) -> None:
        """Note the engine of a slot whose worker rests or is being started, unless the slot's last engine is known."""
        self._last.setdefault(slot, engine)

    def drop(self, link: Link) -> None:
        del self._by_generation[link.generation]
        if self._current.get(link.slot) is link:
            del self._current[link.slot]
        self._alike.clear()

    def find(self, generation: int) -> Link | None:
        return self._by_generation.get(generation)

    @property
    def all(self) -> list[Link]:
        """The current generations and those that finish their streams."""
        return list(self._by_generation.values())

    @property
    def current(self) -> list[Link]:
        """The newest generation of each slot, in the order of the slots."""
        return [self._current[slot] for slot in sorted(self._current)]

    def give_up(self, slots: Collection[int]) -> None:
        """Forget the engines of slots that aren't started again soon, so that no stream waits for them if there is
        another engine."""
        for slot in slots:
            if len(self._last) > 1:
                self._last.pop(slot, None)

    @property
    def best_engine(self) -> EngineInfo | None:
        """The engine for a new stream: the best one that speaks, or did a moment ago and is being restarted.

        The newest of several equal engines is chosen; if several workers have that engine, the lowest slot's worker.
        """
        best = max(reversed(self._last.values()), key=lambda engine: engine.rank, default=None)
        return next((link.engine for link in self.current if best and sound_alike(link.engine, best)), best)

    def that_sound_like(self, engine: EngineInfo) -> list[Link]:
        """The generations at which a stream of that engine may continue, since its voice must not change midway."""
        voice = _sound(engine)
        if voice not in self._alike:
            current = [link for link in self.current if sound_alike(link.engine, engine)]
            finishing = [link for link in self._by_generation.values() if sound_alike(link.engine, engine)]
            self._alike[voice] = current or finishing[:1]
        return self._alike[voice]


def sound_alike(one: EngineInfo, other: EngineInfo) -> bool:
    """True if both have the same model with the same voices, on any execution provider."""
    return _sound(one) == _sound(other)


def _sound(engine: EngineInfo) -> tuple[object, ...]:
    return engine.name, engine.model, engine.model_sha256, engine.voices, engine.voices_sha256
