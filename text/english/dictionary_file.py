"""A pronouncing dictionary read in place: a JSON file of words that stays on the disk, with an index in memory.

misaki's two dictionaries of American English hold 180,000 words. As Python dicts they take several times the
memory of an index over the mapped files (`python -m benchmarks.late_loading`).
"""

from __future__ import annotations

import json
import mmap
import re
from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RECENT = 2048
"""Recent words whose lookups are kept, absent words included: running text repeats its words."""

Said = str | dict[str, str | None]
"""A word's phonemes, or its phonemes by part-of-speech tag."""

_BUCKET_BITS = 17
"""The index has 2 ** 17 buckets: 0.7 to 0.8 words in each."""
_HASHED = 8
"""Number of bytes at a word's beginning, and at its end, that choose its bucket."""
_FACTORS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
"""Odd numbers of 64 bits: the two are multiplied by them."""

_STRING = rb'"[^"\\\n]*+"'
_TAGGED = rb"\n    %b: (?:%b|null),?+" % (_STRING, _STRING)
_LAYOUT = re.compile(rb'\{\n(?:  "[^"\\\n]++": (?:%b|\{(?:%b)++\n  \}),?+\n)*+\}\s*+' % (_STRING, _TAGGED))
_BEFORE_WORD = b'\n  "'
_PART = 1 << 18
"""Bytes that are indexed at once: arrays of a whole file would leave 12 MB of gaps in the heap."""


class UnknownLayout(ValueError):
    """The file isn't written as misaki's dictionaries are: JSON without escapes, an entry a line, indented by two."""


class DictionaryFile(Mapping[str, Said]):
    """The words of a dictionary and their other capitalisation, as `misaki.en.Lexicon.grow_dictionary` adds it: "paris"
    for "Paris", "Table" for "table". The file's own words win. Thread-safe.
    """

    def __init__(self, file: Path) -> None:
        """Map the file and index its words.

        Raises:
            OSError: the file can't be read.
            UnknownLayout: the file is no such dictionary.
            ValueError: the file is empty.
        """
        with file.open("rb") as opened:
            self._data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self._starts, self._first = _index(self._data)
        self._recent = lru_cache(_RECENT)(self._found)
        self._unmap_pages()

    def __getitem__(self, word: str) -> Said:
        if (found := self._recent(word)) is None:
            raise KeyError(word)
        return found

    def get(self, word: str, default: Any = None) -> Any:
        return default if (found := self._recent(word)) is None else found

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._recent(word) is not None

    def __iter__(self) -> Iterator[str]:
        for start in self._starts:
            yield from self._forms(self._data[start : self._data.find(b'"', start)].decode())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _unmap_pages(self) -> None:
        """Let go of the pages after each of them was read: they stay in the system's cache, outside this process."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED)

    def _found(self, word: str) -> Said | None:
        end = self._place(word)
        return None if end < 0 else self._said(end)

    def _place(self, word: str) -> int:
        """Offset of the quotation mark that ends the word, in whichever capitalisation the file has; -1 if none."""
        if (place := self._own(word)) >= 0 or len(word) < 2:
            return place
        lower = word.lower()
        if lower == word:
            capital = word.capitalize()
            return self._own(capital) if capital != word and capital.lower() == word else -1
        return self._own(lower) if lower.capitalize() == word else -1

    def _own(self, word: str) -> int:
        key = word.encode("utf-8", "surrogatepass")
        bucket = _bucket(key)
        size = len(key)
        for place in range(self._first[bucket], self._first[bucket + 1]):
            start = self._starts[place]
            # No word of the file holds a quotation mark.
            if self._data[start : start + size + 1] == key + b'"':
                return start + size
        return -1

    def _forms(self, word: str) -> Iterator[str]:
        """Yield a word, and its other capitalisation if a search for that finds this word."""
        yield word
        other = word.capitalize() if word == word.lower() else word.lower()
        if self._own(other) < 0 <= self._place(other):
            yield other

    def _said(self, end: int) -> Said:
        start = end + len('": "')
        if self._data[start - 1] == ord('"'):
            return self._data[start : self._data.find(b'"', start)].decode()
        said: dict[str, str | None] = json.loads(self._data[start - 1 : self._data.find(b"}", start) + 1])
        return said


def _bucket(word: bytes) -> int:
    head, tail = int.from_bytes(word[:_HASHED], "little"), int.from_bytes(word[-_HASHED:], "little")
    return (head * _FACTORS[0] + tail * _FACTORS[1] & (1 << 64) - 1) >> 64 - _BUCKET_BITS


def _index(data: mmap.mmap) -> tuple[array[int], array[int]]:
    """Offsets of the words, ordered by bucket, and each bucket's first place in them."""
    import numpy as np  # not above: this module is imported before any English is spoken

    if _LAYOUT.fullmatch(data) is None:
        raise UnknownLayout("no dictionary of misaki's layout")
    starts, buckets = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    begin = 0
    while begin < len(data) - _HASHED:
        # A part ends before a line. What follows is there for the words near its end.
        end = max(data.find(b"\n", begin + _PART), 0) or len(data)
        places, of = _words(np.frombuffer(data[begin : end + _HASHED], np.uint8))
        starts.append((places + begin).astype(np.uint32))
        buckets.append(of.astype(np.uint32))
        begin = end
    bucket = np.concatenate(buckets)
    order = np.argsort(bucket, kind="stable").astype(np.uint32)
    first = np.searchsorted(bucket[order], np.arange(2**_BUCKET_BITS + 1, dtype=np.uint32))
    return array("I", np.concatenate(starts)[order].tobytes()), array("I", first.astype(np.uint32).tobytes())


def _words(text: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Offsets of the words, and their buckets, as `_bucket` gives them. The last 8 bytes begin no word's line."""
    import numpy as np

    lines = np.flatnonzero(text[:-_HASHED] == _BEFORE_WORD[0])
    starts = lines[text[lines + len(_BEFORE_WORD) - 1] == _BEFORE_WORD[-1]] + len(_BEFORE_WORD)
    quotes = np.flatnonzero(text == ord('"'))
    lengths = quotes[np.searchsorted(quotes, starts)] - starts
    masks = np.array([(1 << 8 * size) - 1 for size in range(_HASHED + 1)], np.uint64)[np.minimum(lengths, _HASHED)]
    eights = np.lib.stride_tricks.sliding_window_view(text, _HASHED)
    head, tail = (
        eights[places].view("<u8")[:, 0] & masks for places in (starts, starts + np.maximum(lengths - _HASHED, 0))
    )
    factors = np.array(_FACTORS, np.uint64)
    return starts, (head * factors[0] + tail * factors[1]) >> np.uint64(64 - _BUCKET_BITS)
