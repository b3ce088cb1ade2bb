"""Ears: measurements of one rendering of a text, namely its loudness, the words understood, and listeners' expected
opinion."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.measuring.hearing.level import speech_level
from benchmarks.measuring.hearing.opinion import Opinion, OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from shm.audio import Pcm


@dataclass(frozen=True, slots=True)
class Heard:
    """Measurements of one rendering of one text."""

    words: int
    """Number of words in the text."""
    level: float
    """Level of the speech, in dB relative to an amplitude of 1 (one bit)."""
    errors: int | None = None
    """Number of words that were understood wrongly; None if no recogniser listened."""
    opinion: Opinion | None = None


class Ears:
    """Measures levels always; words and opinions if the extra `quality` is installed."""

    def __init__(self, threads: int = 0) -> None:
        """Load the installed models.

        Args:
            threads: threads of each model; 0 means all cores.
        """
        self._recognizer = Recognizer(threads) if Recognizer.is_installed() else None
        self._scorer = OpinionScorer(threads) if OpinionScorer.is_installed() else None

    def heard(self, text: str, samples: Pcm, *, english: bool = True) -> Heard:
        """Measurements of one rendering.

        Args:
            text: the text that was spoken.
            samples: mono, 16 bits, 24 kHz, at least one.
            english: True to recognise words; the recogniser understands English only.
        """
        understood = self._recognizer.understood(samples) if self._recognizer and english else None
        return Heard(
            words=len(spoken_words(text)) if english else len(text.split()),
            level=speech_level(samples),
            errors=None if understood is None else word_errors(text, understood),
            opinion=self._scorer.opinion(samples) if self._scorer else None,
        )
