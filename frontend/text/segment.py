"""What the text pipeline makes: segments, each of them one job for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shm.messages import EngineInfo


class Cut(StrEnum):
    """What a segment ends at."""

    SENTENCE = "sentence"
    CLAUSE = "clause"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text that is spoken in one prosody pass."""

    text: str
    """The normalised text that it covers: a text's segments hold each of its words once, in order."""
    script: str
    """What the engine is given: phonemes of its vocabulary, or the text itself (`Notation.speaks`)."""
    tokens: int
    """The script's length as the engine counts it."""
    cut: Cut


@dataclass(frozen=True, slots=True)
class Notation:
    """What an engine can read, and how much of it at once."""

    speaks: str
    vocabulary: frozenset[str]
    max_tokens: int

    @classmethod
    def of(cls, engine: EngineInfo) -> Notation:
        return cls(engine.speaks, frozenset(engine.vocabulary), engine.max_tokens)
