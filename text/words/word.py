"""Pronounced word: a word of the input with its phonemes and their source."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from shm.inflection import Inflection


class PhonemeSource(StrEnum):
    """Source of a word's phonemes, in the order in which sources are tried."""

    USER = "user"
    """Pronunciation from the user's lexicon, or from markup in the text."""
    LEXICON = "lexicon"
    ESPEAK = "espeak"
    LETTERS = "letters"
    NONE = "none"
    """No pronunciation: the word has only punctuation and symbols, or no source knows it."""

    @classmethod
    def weakest(cls, sources: Collection[PhonemeSource]) -> PhonemeSource:
        """The least reliable source of a word's parts; NONE if no part has phonemes."""
        return next((source for source in (cls.LETTERS, cls.ESPEAK, cls.LEXICON) if source in sources), cls.NONE)


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
    inflection: Inflection | None = None
    """How the word is to be said; None: as the engine says it."""
