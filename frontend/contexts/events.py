"""The events of a context: what its client is told of it, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shm.timing import WordTiming


@dataclass(frozen=True, slots=True)
class Spoken:
    """More audio, word times, or both."""

    audio: bytes
    """Encoded audio; all of a context's audio is one stream of its format."""
    seconds: float
    """Duration of all audio of the context that was given so far, this event's included."""
    words: Sequence[WordTiming] = ()
    """Words that begin in this audio or later. Times are seconds from the beginning of the context's audio."""


@dataclass(frozen=True, slots=True)
class Flushed:
    """All audio of the text before a flush was given."""

    number: int
    """The flush's number in the context, from 1."""


Event = Spoken | Flushed
