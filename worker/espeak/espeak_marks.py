"""Marks for espeak-ng's speech: word starts as the library reports them, and word ends before pauses as measured in the
samples."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from shm.marks import Mark

_PAUSE = SAMPLE_RATE // 20
"""Samples of silence below which a gap is part of a word: the one before a `t`, for example."""


def marks_of(script: str, words: Iterable[Mark], samples: Pcm) -> tuple[Mark, ...]:
    """Marks of a segment, in the form of `shm.messages.Marks`: places rise strictly, samples don't fall.

    espeak-ng counts the pause after a clause as part of its last word. The word ends where its sound does: a mark there
    has the place right after the word, before the following space.

    Args:
        words: place in the script and first sample of each word. If several share a place, the first counts.
        samples: the whole segment, shape [n].
    """
    begun: list[Mark] = []
    for place, sample in words:
        if not begun or (place > begun[-1][0] and sample >= begun[-1][1]):
            begun.append((place, min(sample, len(samples))))
    marks: list[Mark] = []
    for (place, sample), (next_place, next_sample) in pairwise([*begun, (len(script), len(samples))]):
        marks.append((place, sample))
        end = _end_of_sound(samples, sample, next_sample)
        after = len(script[:next_place].rstrip())
        if next_sample - end >= _PAUSE and place < after < next_place:
            marks.append((after, end))
    last = marks[-1][1] if marks else 0
    marks.append((len(script), _end_of_sound(samples, last, len(samples)) if begun else len(samples)))
    return tuple(marks)


def _end_of_sound(samples: Pcm, start: int, end: int) -> int:
    """Index after the last audible sample of the range; `end` if none is audible."""
    loud = np.flatnonzero(np.abs(samples[start:end].astype(np.int32)) > AUDIBLE)
    return start + int(loud[-1]) + 1 if len(loud) else end
