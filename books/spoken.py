"""A chapter as it was spoken: its sentences and words with their times."""

from __future__ import annotations

from dataclasses import dataclass

from books.book import TextBlock

SAMPLE_RATE = 24_000
"""Samples per second of all times in this package."""


@dataclass(frozen=True, slots=True)
class BookWord:
    """One word as it is written, and when it sounds."""

    text: str
    start: int
    """Samples from the chapter's start."""
    end: int


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """One sentence, and when it sounds."""

    text: str
    start: int
    """Samples from the chapter's start."""
    end: int
    words: tuple[BookWord, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenBlock:
    """One block of the chapter's text with its sentences; a scene break has none."""

    block: TextBlock
    sentences: tuple[SpokenSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenChapter:
    """One chapter: its text in time."""

    title: str
    blocks: tuple[SpokenBlock, ...]
    samples: int
    """Length of the chapter, its closing pause included."""

    @property
    def sentences(self) -> tuple[SpokenSentence, ...]:
        """All sentences in order."""
        return tuple(sentence for block in self.blocks for sentence in block.sentences)

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.samples / SAMPLE_RATE
