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
from typing import Any
from zlib import crc32

_RECENT = 2048
"""Recent words whose lookups are kept, absent words included: running text repeats its words."""

Said = str | dict[str, str | None]
"""A word's phonemes, or its phonemes by part-of-speech tag."""

_BUCKETS = 1 << 17
"""Number of the index's buckets: 0.7 to 0.8 words in each."""

_STRING = rb'"[^"\\]*"'
_TAGGED = rb"\n    %b: (?:%b|null),?" % (_STRING, _STRING)
_ENTRY = re.compile(rb'  "([^"\\]+)": (?:%b|\{(?:%b)+\n  \}),?\n' % (_STRING, _TAGGED))
_OPENED = re.compile(rb'"([^"]+)": \{')
_OPENING, _CLOSING = b"{\n", b"}"


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

    def tagged(self) -> Iterator[tuple[str, dict[str, str | None]]]:
        """The words whose phonemes depend on the part of speech, with the phonemes by tag."""
        for entry in _OPENED.finditer(self._data):
            said = self._said(entry.end(1))
            assert isinstance(said, dict)
            for word in self._forms(entry[1].decode()):
                yield word, said
        self._unmap_pages()

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
        bucket = crc32(key) & _BUCKETS - 1
        size = len(key)
        for place in range(self._first[bucket], self._first[bucket + 1]):
            start = self._starts[place]
            # No word of the file holds a quotation mark.
            if self._data[start : start + size + 1] == key + b'"':
                return start + size
        return -1

    def _forms(self, word: str) -> Iterator[str]:
        """A word of the file, and its other capitalisation if it is found by this word."""
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


def _index(data: mmap.mmap) -> tuple[array[int], array[int]]:
    """Offsets of the words, ordered by bucket, and each bucket's first place in them."""
    import numpy as np  # not above: this module is imported before any English is spoken

    starts, sums = array("I"), array("I")
    end = len(_OPENING)
    for entry in _ENTRY.finditer(data, end):
        if entry.start() != end:
            break
        starts.append(entry.start(1))
        sums.append(crc32(entry[1]))
        end = entry.end()
    if data[: len(_OPENING)] != _OPENING or data[end:].strip() != _CLOSING:
        raise UnknownLayout("no dictionary of misaki's layout")
    buckets = np.array(sums, dtype=np.uint32) & np.uint32(_BUCKETS - 1)
    order = np.argsort(buckets, kind="stable")
    first = np.searchsorted(buckets[order], np.arange(_BUCKETS + 1)).astype(np.uint32)
    return array("I", np.array(starts, dtype=np.uint32)[order].tobytes()), array("I", first.tobytes())
