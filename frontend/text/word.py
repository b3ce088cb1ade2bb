"""Pronounced word: a word of the input with its phonemes and their source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PhonemeSource(StrEnum):
    """PhonemeSource of a word's phonemes, in the order in which sources are tried."""

    USER = "user"
    """Pronunciation from the user's lexicon, or from markup in the text."""
    LEXICON = "lexicon"
    ESPEAK = "espeak"
    LETTERS = "letters"
    NONE = "none"
    """No pronunciation: the word has only punctuation and symbols, or no source knows it."""


@dataclass(frozen=True, slots=True)
class Word:
    """Text between two spaces of a sentence, punctuation included, with its phonemes."""

    text: str
    phonemes: str
    """Phonemes of the word; punctuation that the model knows keeps its place in them."""
    source: PhonemeSource
    joins: bool = False
    """True if the phonemes continue those of the word before without a space: both are one spoken word."""
    bookmarks: tuple[str, ...] = ()
    """Names of the bookmarks that stand before the word."""
