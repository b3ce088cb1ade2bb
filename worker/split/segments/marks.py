"""Times at which a script's characters sound, and at which its sound begins, computed from predicted durations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.marks import Mark

DURATION_SAMPLES = 600
"""Samples of one unit of duration."""

KEPT_LEAD = 2
"""Units (50 ms) of the silence before the first phoneme, and before the first energy, that are spoken."""

AUDIBLE_ENERGY = -4.0
"""Kokoro's energy curve, a logarithm, is about -9 in silence and 4 to 10 in speech. No sound of the
published voices that can be heard begins long before the curve passes this value."""


def lead_of(durations: NDArray[Any], energy: NDArray[Any]) -> int:
    """The number of units of silence at a segment's beginning that needn't be made.

    The beginning of sound inside the first pad depends on the first phoneme and on the speed: at half speed long
    before the pad's end.

    Args:
        durations: [phonemes + 2], with the pads before and after.
        energy: [1, frames at 80 Hz].
    """
    audible = np.flatnonzero(energy.ravel() > AUDIBLE_ENERGY)
    begins = int(audible[0]) // 2 if len(audible) else int(durations[0])
    return max(0, min(int(durations[0]), begins) - KEPT_LEAD)


def marks_of(durations: NDArray[Any], lead: int = 0) -> tuple[Mark, ...]:
    """One mark for each phoneme and one for the end of the last one, in samples after the first `lead` units."""
    ends = (np.cumsum(durations)[:-1] - lead) * DURATION_SAMPLES
    return tuple((place, int(sample)) for place, sample in enumerate(ends))
