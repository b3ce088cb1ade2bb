"""The adaptive pre-buffer: the audio that must be there before playback begins, so that playback never runs dry."""

from __future__ import annotations

from shm.audio import SAMPLE_RATE

AT_LEAST = SAMPLE_RATE // 10
"""Samples before playback begins where the engine is faster than speech: 100 ms."""

AFTER_A_GAP = SAMPLE_RATE // 2
"""Samples before playback continues after it ran dry: the prediction was wrong, and one gap is better than several."""

ORDINARY = 20 * SAMPLE_RATE
"""Samples fetched ahead where the engine is faster than speech."""

MOST = 600 * SAMPLE_RATE
"""Most samples waited for: ten minutes, 29 MB."""

_MARGIN = 1.1
"""Factor on the predicted work: a prediction may be off by a tenth without a gap."""


def needed(real_time_factor: float | None, remaining: float, ran_dry: bool) -> int:
    """Samples that must be there before playback begins.

    The engine makes the A - B samples that are missing in f * (A - B) sample times. Playback lasts for the B samples
    that are there and for those that are made meanwhile, so it doesn't run dry if B >= A * (f - 1) / f.

    Args:
        real_time_factor: predicted seconds of work for a second of audio; None if nothing is predicted.
        remaining: expected samples from the place to the text's end, those that are there included.
        ran_dry: playback ran dry before.
    """
    least = AFTER_A_GAP if ran_dry else AT_LEAST
    factor = (real_time_factor or 0.0) * _MARGIN
    if factor <= 1:
        return least
    return min(max(least, round(remaining * (factor - 1) / factor)), MOST)


def room(wanted: int) -> int:
    """Samples that may be fetched ahead of the place, where `wanted` are needed to begin."""
    return max(ORDINARY, wanted + ORDINARY // 4)
