"""The gate: how far from the model's whole run in full precision anything may be that is spoken in its place.

The limits are absolute. Texts are judged by ears alone, so another prosody is no fault in itself: what counts is that
the same words are understood, that listeners would like it as well, and that nothing is louder or softer at any length.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker.hearing.ears import Heard

WORD_ERRORS = 0.5
"""Percentage points by which the word error rate may be above the reference's."""

MIN_WORDS = 500
"""Words below which a word error rate says nothing: one word in 500 is 0.2 points."""

OPINION = 0.05
"""By which the mean opinion score (DNSMOS P.808) may be below the reference's."""

LEVEL = 1.0
"""dB, either way, at every length."""

LOG_MEL = 2.0
"""dB of log-mel distance to the reference's sound of the same prosody."""

LIMITED = ("level", "log-mel distance", "word errors", "opinion score")
"""All that the gate limits, as messages name it."""

LENGTHS = (1, 3, 6, 12, 24, 60)
"""Words: the longest text of each class of lengths; longer ones are in the last class."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One way to speak beside the whole run in full precision, over the same texts."""

    level_difference: float
    """dB: the mean absolute difference at the length where it is largest."""
    log_mel_distance: float | None = None
    """dB, of the same prosody; None where there is no such sound."""
    words: int = 0
    """That were listened for."""
    word_error_points: float | None = None
    """Percentage points above the reference's word error rate; None if nobody listened."""
    opinion_loss: float | None = None
    """By which P.808 is below the reference's; None if it wasn't scored."""

    @classmethod
    def of(cls, reference: Sequence[Heard], other: Sequence[Heard], log_mel_distance: float | None = None) -> Judgement:
        """Two renderings of the same texts, in the same order."""
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
        """What the verdict rests on."""
        known = (True, self.log_mel_distance is not None, self._counts_words, self.opinion_loss is not None)
        return tuple(name for name, measured in zip(LIMITED, known, strict=True) if measured)

    @property
    def failures(self) -> tuple[str, ...]:
        """What is beyond its limit; empty if the gate is passed."""
        return tuple(self._failures())

    @property
    def passes(self) -> bool:
        return not self.failures

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
    """Mean absolute differences in dB by class of lengths (`LENGTHS`), the shortest first."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for ours, theirs in zip(reference, other, strict=True):
        found[length_class(ours.words)].append(abs(theirs.level - ours.level))
    return {length: statistics.fmean(found[length]) for length in sorted(found)}


def length_class(words: int) -> int:
    """The class's longest text, in words."""
    return LENGTHS[min(bisect_left(LENGTHS, words), len(LENGTHS) - 1)]
