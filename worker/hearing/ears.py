"""One rendering of a text, heard: how loud it is, which words were understood, what listeners would say of it."""

from __future__ import annotations

from dataclasses import dataclass

from shm.audio import Pcm
from worker.hearing.level import speech_level
from worker.hearing.opinion import Opinion, OpinionScorer
from worker.hearing.recognizer import Recognizer
from worker.hearing.words import spoken_words, word_errors


@dataclass(frozen=True, slots=True)
class Heard:
    """What was measured of one rendering of one text."""

    words: int
    """Of the text."""
    level: float
    """dB over one bit, of the speech in it."""
    errors: int | None = None
    """Words that were understood otherwise; None where nobody listened for them."""
    opinion: Opinion | None = None


class Ears:
    """Levels always; words and opinions where the extra `quality` is installed."""

    def __init__(self, threads: int = 0) -> None:
        """Load the models that are installed.

        Args:
            threads: of each; 0: all cores.
        """
        self._recognizer = Recognizer(threads) if Recognizer.is_installed() else None
        self._scorer = OpinionScorer(threads) if OpinionScorer.is_installed() else None

    def heard(self, text: str, samples: Pcm, *, english: bool = True) -> Heard:
        """
        Args:
            text: what is said.
            samples: mono, 16 bits, 24 kHz, at least one.
            english: whether to listen for its words, which the recogniser knows in English only.
        """
        understood = self._recognizer.understood(samples) if self._recognizer and english else None
        return Heard(
            words=len(spoken_words(text)) if english else len(text.split()),
            level=speech_level(samples),
            errors=None if understood is None else word_errors(text, understood),
            opinion=self._scorer.opinion(samples) if self._scorer else None,
        )
