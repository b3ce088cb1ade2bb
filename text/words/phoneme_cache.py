"""Cache of pronounced sentences with a limit in bytes."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict

from text.words.word import Word

Key = tuple[str, str, str]
"""Cache key: sentence, language, version of the pronunciation rules."""

_ENTRY_OVERHEAD = 400
"""Overhead of an entry in bytes: the dictionary's slot, the ordering's link and the key's tuple (measured with
tracemalloc: 330 to 400).
"""


class PhonemeCache:
    """Least-recently-used cache of pronounced sentences. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        """Args:
        limit_bytes: limit of `bytes`; 0 keeps no entry.
        """
        self._limit = limit_bytes
        self._entries: OrderedDict[Key, tuple[tuple[Word, ...], int]] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0
        self.bytes = 0
        """Size of all entries in bytes: `sys.getsizeof` of each string, word and tuple, plus `_ENTRY_OVERHEAD`."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> tuple[Word, ...] | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Key, words: tuple[Word, ...]) -> None:
        """Store a sentence's words, unless their size alone exceeds the limit."""
        size = size_of(key, words)
        with self._lock:
            if former := self._entries.pop(key, None):
                self.bytes -= former[1]
            if size > self._limit:
                return
            while self.bytes + size > self._limit:
                _, (_, freed) = self._entries.popitem(last=False)
                self.bytes -= freed
            self._entries[key] = (words, size)
            self.bytes += size


def size_of(key: Key, words: tuple[Word, ...]) -> int:
    """Size of an entry in bytes; the language and version strings are shared between entries and not counted."""
    held = sum(sys.getsizeof(word) + sys.getsizeof(word.text) + sys.getsizeof(word.phonemes) for word in words)
    return _ENTRY_OVERHEAD + sys.getsizeof(key[0]) + sys.getsizeof(words) + held
