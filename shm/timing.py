"""The times at which words sound and sentences begin."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

Mark = tuple[int, int]
"""Mark: a place in a script, in characters, and the sample of its segment at which that place begins to sound."""

_MARK = struct.Struct("<HI")

MAX_MARKS = 64
"""Largest number of marks in one record, which keeps the record below `shm.messages.MAX_COMMIT_BYTES`."""


def pack_marks(marks: Sequence[Mark]) -> bytes:
    """Encode at most `MAX_MARKS` marks, in the form of `shm.messages.Marks.packed`."""
    return b"".join(_MARK.pack(*mark) for mark in marks)


def unpack_marks(packed: bytes) -> list[Mark]:
    """Decode marks that `pack_marks` encoded.

    Raises:
        ValueError: the bytes aren't whole marks.
    """
    try:
        return list(_MARK.iter_unpack(packed))
    except struct.error as error:
        raise ValueError(f"{len(packed)} bytes are no marks") from error


class VisemeTiming(NamedTuple):
    """One shape of the mouth."""

    oculus: str
    azure: int
    start: float
    """Seconds from the audio's beginning."""
    end: float


@dataclass(frozen=True, slots=True)
class WordTiming:
    """One written word in the audio."""

    word: str
    """The word as the user wrote it."""
    said: str
    """The word as it was normalised."""
    start: float
    """Seconds from the audio's beginning."""
    end: float
    voice: str = ""
    """The voice that says it (`Performer.name`); empty if one voice says the whole text."""
    bookmarks: tuple[str, ...] = ()
    """Names of the bookmarks that are reached where the word begins."""
    bookmarks_after: tuple[str, ...] = ()
    """Names of the bookmarks that are reached where the word ends."""
    visemes: tuple[VisemeTiming, ...] = ()
    """The word's visemes, if they are wanted."""

    def later(self, seconds: float) -> WordTiming:
        """This word, that many seconds later in the audio."""
        visemes = tuple(each._replace(start=each.start + seconds, end=each.end + seconds) for each in self.visemes)
        return replace(self, start=self.start + seconds, end=self.end + seconds, visemes=visemes)


@dataclass(frozen=True, slots=True)
class SentenceTiming:
    number: int
    """Place of the sentence in the request's text, from 0."""
    text: str
    """The sentence as the user wrote it, with single spaces."""
    start: int
    """The stream's sample at which the sentence begins; the pause before it belongs to the sentence before."""
