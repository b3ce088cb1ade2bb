"""The gate: limits on the difference between speech from a model's full-precision whole run and speech from a
replacement.

The limits are absolute. Texts are judged by ears alone, so another prosody is no fault in itself: the same words must
be understood, listeners must like it as well, and it must not be louder or softer at any length.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measuring.hearing.ears import Heard

WORD_ERRORS = 0.5
"""Largest increase of the word error rate over the reference's, in percentage points."""

MIN_WORDS = 500
"""Smallest number of words for a meaningful word error rate: one word in 500 is 0.2 points."""

OPINION = 0.05
"""Largest loss of the mean opinion score (DNSMOS P.808) against the reference."""

LEVEL = 1.0
"""Largest level difference in dB, in either direction, at any length."""

LOG_MEL = 2.0
"""Largest log-mel distance in dB to the reference's sound with the same prosody."""

LIMITED = ("level", "log-mel distance", "word errors", "opinion score")
"""Names of the limited measurements, as messages show them."""

LENGTHS = (1, 3, 6, 12, 24, 60)
"""Longest text of each length class, in words; longer texts are in the last class."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Comparison of one way to speak with the full-precision whole run, over the same texts."""

    level_difference: float
    """Largest level difference of a length class: the mean absolute difference in dB within the class."""
    log_mel_distance: float | None = None
    """Log-mel distance in dB with the same prosody; None if no such sound exists."""
    words: int = 0
    """Number of words that the recogniser listened for."""
    word_error_points: float | None = None
    """Increase of the word error rate over the reference's in percentage points; None if no recogniser listened."""
    opinion_loss: float | None = None
    """Loss of the P.808 score against the reference; None if it wasn't scored."""

    @classmethod
    def of(cls, reference: Sequence[Heard], other: Sequence[Heard], log_mel_distance: float | None = None) -> Judgement:
        """Comparison of two renderings of the same texts, in the same order."""
        pairs = list(zip(reference, other, strict=True))
        listened = [(ours, theirs) for ours, theirs in pairs if ours.errors is not None and theirs.errors is not None]
        words = sum(ours.words for ours, _ in listened)
        more = sum((theirs.errors or 0) - (ours.errors or 0) for ours, theirs in listened)
        losses = [ours.opinion.p808 - theirs.opinion.p808 for ours, theirs in pairs if ours.opinion and theirs.opinion]
        return cls(
            level_difference=max(level_differences(reference, other).values()),
            log_mel_distance=log_mel_distance,
            words=words,
            word_error_points=100 * more / words if words else None,
            opinion_loss=statistics.fmean(losses) if losses else None,
        )

    @property
    def judged(self) -> tuple[str, ...]:
        """Names of the measurements that the verdict rests on."""
        known = (True, self.log_mel_distance is not None, self._counts_words, self.opinion_loss is not None)
        return tuple(name for name, measured in zip(LIMITED, known, strict=True) if measured)

    @property
    def failures(self) -> tuple[str, ...]:
        """Descriptions of the measurements beyond their limits; empty if the gate is passed."""
        return tuple(self._failures())

    @property
    def _counts_words(self) -> bool:
        return self.word_error_points is not None and self.words >= MIN_WORDS

    def _failures(self) -> Iterator[str]:
        if self.level_difference > LEVEL:
            yield f"its level is {self.level_difference:.1f} dB off at some length (limit {LEVEL:g})"
        if self.log_mel_distance is not None and self.log_mel_distance > LOG_MEL:
            yield f"its log-mel distance is {self.log_mel_distance:.1f} dB (limit {LOG_MEL:g})"
        if self._counts_words and (self.word_error_points or 0) > WORD_ERRORS:
            yield f"its word error rate is {self.word_error_points:.1f} points higher (limit {WORD_ERRORS:g})"
        if self.opinion_loss is not None and self.opinion_loss > OPINION:
            yield f"its opinion score is {self.opinion_loss:.2f} lower (limit {OPINION:g})"


def level_differences(reference: Sequence[Heard], other: Sequence[Heard]) -> dict[int, float]:
    """Mean absolute level differences in dB by length class (`LENGTHS`), the shortest class first."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for ours, theirs in zip(reference, other, strict=True):
        found[length_class(ours.words)].append(abs(theirs.level - ours.level))
    return {length: statistics.fmean(found[length]) for length in sorted(found)}


def length_class(words: int) -> int:
    """Length class of a text, named by its longest text in words."""
    return LENGTHS[min(bisect_left(LENGTHS, words), len(LENGTHS) - 1)]
