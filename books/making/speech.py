"""A passage's speech, as samples and word times, and the interface of its maker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from books.errors import BookError
from books.making.passages import Passage


@dataclass(frozen=True, slots=True)
class PassageWord:
    """One word as it is written in the passage."""

    text: str
    start: int
    """Samples from the passage's start."""
    end: int


@dataclass(frozen=True, slots=True)
class PassageSpeech:
    """One passage's audio."""

    pcm: NDArray[np.int16]
    """Samples, shape [n], mono at 24 kHz."""
    words: tuple[PassageWord, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageTiming:
    """One passage's length and words, without its audio."""

    samples: int
    words: tuple[PassageWord, ...] = ()


class Postponed(Exception):
    """The speaker has no time for books now: a listener is served, or it starts."""

    def __init__(self, reason: str, seconds: float) -> None:
        """`seconds` until it is worth asking again."""
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class PassageRefused(BookError):
    """The speaker will never speak this passage."""

    def __init__(self, message: str, code: str = "") -> None:
        """`code` is the API's name of the error, if it has one."""
        super().__init__(message)
        self.code = code


class PassageSpeaker(Protocol):
    """Makes passages, several at once if asked."""

    inference_threads: int
    """Passages that it makes side by side."""

    async def engine(self) -> str:
        """Identity of the engine and its model.

        Raises:
            Postponed: it can't be told now.
        """
        ...

    async def script(self, passage: Passage) -> str:
        """The pronunciation of a passage, as the user's lexicon and the rules of normalisation make it now.

        Raises:
            Postponed: it can't be told now.
        """
        ...

    async def speak(self, passage: Passage) -> PassageSpeech:
        """Make a passage.

        Raises:
            Postponed: not now.
            PassageRefused: never.
        """
        ...
