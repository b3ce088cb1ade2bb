"""From predicted durations to the times at which a script's characters sound, and to where its sound begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.messages import Mark

DURATION_SAMPLES = 600
"""Samples of one unit of duration."""

KEPT_LEAD = 2
"""Units (50 ms) of the silence before the first phoneme that are spoken: its onset is in there."""


def lead_of(durations: NDArray[Any]) -> int:
    """How many units at a segment's beginning are silence that needn't be made. Durations: [phonemes + 2], with the
    pads before and after."""
    return max(0, int(durations[0]) - KEPT_LEAD)


def marks_of(durations: NDArray[Any], lead: int = 0) -> tuple[Mark, ...]:
    """One mark for each phoneme and one for the end of the last one, in samples after the first `lead` units."""
    ends = (np.cumsum(durations)[:-1] - lead) * DURATION_SAMPLES
    return tuple((place, int(sample)) for place, sample in enumerate(ends))
