"""The sound of one text, kept until the text is whole: a successor of its front continues each segment where it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

from frontend.streams.cache import CachedSegment, SegmentCache
from frontend.streams.segments import StreamSegment
from shm.audio import Pcm
from shm.sounds import Sound


class OwnSounds:
    """Sounds that workers make of one text. Finished segments go to the cache, if the text allows it; others are
    dropped with the text."""

    def __init__(self, cache: SegmentCache, name: bytes, *, cached: bool) -> None:
        """
        Args:
            name: the text's, which its successor's is too, and no other one's; empty: the text has no successor.
            cached: finished segments are for anybody.
        """
        self._cache = cache
        self._name = name or os.urandom(16)
        self._cached = cached
        self._sounds: dict[int, Sound] = {}
        """Sounds by their segments' indices."""

    def left(self, index: int, key: bytes, *, marks: bool) -> CachedSegment | None:
        """Sound that a killed front has left of the segment with that index and key; None: nothing."""
        found = self._cache.sounds.get(self._key(index, key))
        if found is None:
            return None
        samples, told, sound = found
        self._sounds[index] = sound
        if marks and not told:
            self._drop(index)
            return None
        return CachedSegment(samples, told, sound.row.whole)

    def sealed(self, segment: StreamSegment, pieces: Iterable[Pcm]) -> None:
        """Keep more samples of a segment."""
        sound = self._sounds.get(segment.index)
        if sound is None and segment.sealed == 0:
            sound = self._begun(segment)
        if sound:
            for piece in pieces:
                self._cache.sounds.append(sound, piece)

    def marked(self, segment: StreamSegment) -> None:
        sound = self._sounds.get(segment.index)
        if sound is None and segment.sealed == 0:
            sound = self._begun(segment)
        if sound:
            self._cache.sounds.mark(sound, segment.marks)

    def done(self, segment: StreamSegment) -> None:
        sound = self._sounds.get(segment.index)
        if sound is None or sound.row.samples != segment.sealed:
            return
        if self._cached:
            self._cache.finish(segment.key, sound)
        else:
            self._cache.sounds.finish(sound, None)

    def drop_uncached(self) -> None:
        """Drop what isn't in the cache."""
        for index in tuple(self._sounds):
            self._drop(index)

    def _begun(self, segment: StreamSegment) -> Sound | None:
        sound = self._cache.sounds.begin(self._key(segment.index, segment.key))
        if sound:
            self._sounds[segment.index] = sound
        return sound

    def _drop(self, index: int) -> None:
        sound = self._sounds.pop(index)
        if sound.row.own:
            self._cache.sounds.drop(sound)

    def _key(self, index: int, key: bytes) -> bytes:
        return hashlib.blake2b(b"%d %b %b" % (index, key, self._name), digest_size=16).digest()
