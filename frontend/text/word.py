"""One word of the input and how it is pronounced."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a word's phonemes came from, in the order in which they are tried."""

    USER = "user"
    """The user's lexicon, or markup in the text."""
    LEXICON = "lexicon"
    ESPEAK = "espeak"
    LETTERS = "letters"
    NONE = "none"
    """Nothing to pronounce: punctuation and symbols only."""


@dataclass(frozen=True, slots=True)
class Word:
    """What stood between two spaces of a sentence, punctuation included, and its phonemes."""

    text: str
    phonemes: str
    """Punctuation that the model knows stands where it stood in the text."""
    source: Source
    joins: bool = False
    """The phonemes go on with those of the word before, without a space: they are one spoken word."""
