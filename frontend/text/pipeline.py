"""From a request's text to its segments: sanitise, normalise, pronounce, cut; a sentence at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from frontend.text.normalization.normalize import normalize, normalized_sentences
from frontend.text.normalization.settings import Normalization
from frontend.text.sanitize import sanitize
from frontend.text.segment import Cut, Notation, Segment
from frontend.text.segmentation import passages, pronounceable, segment_words
from frontend.text.speakable import is_unpronounceable
from frontend.text.word import Source, Word

_PASSAGE = 2
"""Characters of a sentence that are pronounced at once, in parts of an engine's limit.

A sentence without an end must not keep its first words from being spoken.
"""


class Pronouncer(Protocol):
    """What is needed of `frontend.text.g2p.G2P`."""

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        """One word for each token between spaces."""
        ...


class TextPipeline:
    """Makes segments, and counts what it could not have spoken."""

    def __init__(self, g2p: Pronouncer, normalization: Normalization | None = None) -> None:
        """Args:
        normalization: which rules rewrite English; by default those that are on by default.
        """
        self._g2p = g2p
        self._normalization = normalization or Normalization()
        self.unpronounceable: Counter[str] = Counter()
        """Characters of words for which there was no sound; not punctuation."""
        self.dropped: Counter[str] = Counter()
        """Phonemes that were not in the engine's vocabulary."""

    def segments(self, text: str, language: str, notation: Notation) -> Iterator[Segment]:
        """The text's segments, in order, each of its words in one of them; none if nothing in it can be pronounced.

        A sentence is worked on when the segments before it were taken, but for one: a sentence is kept until the next
        one that can be pronounced, because what can't be in between (a row of asterisks) goes with the former.
        """
        clean = sanitize(text)
        can_speak = False
        for segment in self._segments(clean, language, notation, self._normalization):
            can_speak = True
            yield segment
        if not can_speak and normalize(clean, language, self._normalization).text.split() != clean.split():
            # Emoji or markup is all that there is to say.
            yield from self._segments(clean, language, notation, Normalization.none())

    def _segments(
        self, text: str, language: str, notation: Notation, normalization: Normalization
    ) -> Iterator[Segment]:
        held: list[Word] = []
        held_end = Cut.SENTENCE
        can_speak = False
        for sentence in normalized_sentences(text, language, normalization):
            for passage, end in passages(sentence.text, _PASSAGE * notation.max_tokens):
                words = self._words(passage, language, notation)
                sounds = any(pronounceable(word, notation) for word in words)
                if sounds and can_speak:
                    yield from segment_words(held, notation, self.dropped, held_end)
                    held = []
                held += words
                held_end = end
                can_speak = can_speak or sounds
        if can_speak:
            yield from segment_words(held, notation, self.dropped, held_end)

    def _words(self, passage: str, language: str, notation: Notation) -> tuple[Word, ...]:
        if notation.speaks == "text":
            words = tuple(Word(token, token, Source.ESPEAK) for token in passage.split())
        else:
            words = self._g2p.words(passage, language)
        for word in words:
            if not pronounceable(word, notation):
                self.unpronounceable.update(filter(is_unpronounceable, word.text))
        return words
