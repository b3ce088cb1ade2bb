"""Sound at the joins of windows: no step of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shm.audio import SAMPLE_RATE, Pcm

AROUND = SAMPLE_RATE // 20
"""Samples on each side of a join: 50 ms."""


def largest_step(whole: Pcm, windowed: Pcm, joins: Sequence[int]) -> float | None:
    """The step from a window's last sample to the next one's first, as a share of the largest that the signal makes by
    itself within 50 ms, in one window or vocoded whole. The largest of all joins; above 1 a join could be heard as a
    click. A join in silence that was cut off the sound's end counts for nothing. None if there is no join."""
    shares = []
    for join in joins:
        if join >= len(windowed):
            continue
        begin = max(0, join - AROUND)
        steps, others = (np.abs(np.diff(each[begin : join + AROUND].astype(int))) for each in (windowed, whole))
        here = join - 1 - begin
        own = max(others.max(), np.delete(steps, here).max(), 1)
        shares.append(float(steps[here] / own))
    return max(shares, default=None)
