"""What the text pipeline makes: segments, each of them made by an engine in one run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from shm.engine_info import EngineInfo


class Cut(StrEnum):
    """What kind of place a unit or a segment ends at."""

    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"
    CLAUSE = "clause"
    PHRASE = "phrase"
    WORD = "word"
    INSIDE = "inside"
    """A word that is longer than the engine's limit: nothing else is cut here."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A written word, and where in a script it is spoken."""

    written: str
    """As the user wrote it; "" if it goes on with a word of the unit or segment before."""
    said: str
    """As it was normalised: "twenty twenty-six"; "" if a part of a word was said with the part before it."""
    start: int
    end: int
    """Characters of the script of the unit or segment that holds it; alike if the script has nothing for it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What plans cut between: something that sounds, with the silent words around it."""

    text: str
    """The normalised text that it covers."""
    script: str
    """What the engine is given for it."""
    lead: str
    """What joins it to the unit before it where both are in one segment."""
    cut: Cut
    """What kind of place follows it."""
    words: tuple[SpokenWord, ...] = ()
    rate: float = 1.0
    """The pace that markup asks for, times the request's speed. A segment has one rate."""
    pause: float | None = None
    """Seconds of silence that markup asks for after it, in place of what the cut calls for; a segment ends here."""


Sentence = tuple[Unit, ...]
"""At least one unit; the last one's cut is SENTENCE or PARAGRAPH, or the place where an endless one was parted."""


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
    words: tuple[SpokenWord, ...] = ()
    rate: float = 1.0
    pause: float | None = None
    """Seconds of silence after it that markup asks for; None: what the cut calls for."""
    units: tuple[Unit, ...] = field(default=(), compare=False, repr=False)
    """What it was made of, to be planned again."""


@dataclass(frozen=True, slots=True)
class Notation:
    """What an engine can read, and how much of it at once."""

    speaks: str
    vocabulary: frozenset[str]
    max_tokens: int

    @classmethod
    def of(cls, engine: EngineInfo) -> Notation:
        return cls(engine.speaks, frozenset(engine.vocabulary), engine.max_tokens)
