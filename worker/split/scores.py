"""The score of a segment, made of its prosody, and an edited one in its place (`shm.score`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shm.score import (
    ENERGY_STEP,
    HERTZ_STEP,
    LEAST_ENERGY,
    MOST_ENERGY,
    MOST_UNITS,
    PhonemeScore,
    Score,
)
from worker.split.inflections import VOICED, Gain, lasting, smooth, within_limits
from worker.split.segments.segment import Array, Prosody


def score_of(prosody: Prosody) -> Score:
    """The prosody's score, without the silence at the segment's edges."""
    pitch, energy = prosody.f0.ravel(), prosody.energy.ravel()
    hertz = np.rint(np.where(pitch > VOICED, pitch, 0) / HERTZ_STEP).astype(int)
    steps = np.rint(energy / ENERGY_STEP).astype(int)
    return tuple(
        PhonemeScore(int(units), tuple(hertz[frames].tolist()), tuple(steps[frames].tolist()))
        for units, frames in zip(prosody.durations[1:-1], _frames(prosody.durations), strict=True)
    )


def scored(prosody: Prosody, gain: Gain, score: Score) -> tuple[Prosody, Gain]:
    """The prosody and the gain on its sound with the edited score's values; those that are the prosody's own, as
    `score_of` writes them, change nothing.

    Args:
        score: one for each phoneme of the script, or none.
    """
    if not score:
        return prosody, gain
    own = score_of(prosody)
    durations = prosody.durations.copy()
    for place, (new, old) in enumerate(zip(score, own, strict=True)):
        if new.units is not None and new.units != old.units:
            # A phoneme that sounds keeps a unit: one without any would be no phoneme.
            durations[place + 1] = min(max(new.units, min(old.units or 0, 1)), MOST_UNITS)
    if not np.array_equal(durations, prosody.durations):
        if gain.factors is not None:
            ends, new_ends = (np.concatenate(([0], 2 * np.cumsum(each))) for each in (prosody.durations, durations))
            at = np.interp(np.arange(new_ends[-1] + 1), new_ends, ends)
            gain = replace(gain, factors=np.interp(at, np.arange(len(gain.factors)), gain.factors).astype(np.float32))
        prosody = lasting(prosody, durations)
    frames = _frames(durations)
    pairs = list(zip(score, own, strict=True))
    pitch = _pitches(prosody, [new.pitch if new.pitch != old.pitch else None for new, old in pairs], frames)
    energy = prosody.energy.ravel().copy()
    for (new, old), where in zip(pairs, frames, strict=True):
        if new.energy and new.energy != old.energy:
            energy[where] = np.clip(_spread(new.energy, where, ENERGY_STEP), LEAST_ENERGY, MOST_ENERGY)
    prosody = replace(
        prosody,
        f0=pitch.reshape(prosody.f0.shape).astype(prosody.f0.dtype),
        energy=energy.reshape(prosody.energy.shape),
    )
    return prosody, _louder(gain, [each.volume for each in score], frames, prosody.frames)


def _frames(durations: NDArray[np.int64]) -> list[slice]:
    """Frames at 80 Hz of each phoneme of the script."""
    ends = (2 * np.cumsum(durations)).tolist()
    return [slice(begin, end) for begin, end in pairwise(ends[:-1])]


def _spread(values: Sequence[float], frames: slice, step: float) -> NDArray[np.float64]:
    """The values over the phoneme's frames, on straight lines, each at the middle of its share of the time."""
    count = frames.stop - frames.start
    places = (np.arange(count) + 0.5) / max(count, 1) * len(values) - 0.5
    found: NDArray[np.float64] = np.interp(places, np.arange(len(values)), np.asarray(values, float)) * step
    return found


def _pitches(prosody: Prosody, edited: Sequence[tuple[int, ...] | None], frames: Sequence[slice]) -> Array:
    f0 = prosody.f0.ravel().copy()
    for values, where in zip(edited, frames, strict=True):
        if not values or where.start == where.stop:
            continue
        voiced = [value for value in values if value]
        if not voiced:
            f0[where] = 0
            continue
        # Nothing lies between voice and none: a frame has the voice of the value that is nearest to it.
        filled = np.interp(np.arange(len(values)), np.flatnonzero(values), voiced)
        nearest = ((np.arange(where.stop - where.start) + 0.5) * len(values) / (where.stop - where.start)).astype(int)
        octaves = np.log2(np.maximum(_spread(filled.tolist(), where, HERTZ_STEP), VOICED))
        own = np.log2(np.maximum(f0[where], VOICED))
        # The voice creaks below the lower limit by itself, so that only the upper one counts.
        bent = within_limits(octaves, np.minimum(octaves, own))
        f0[where] = np.where(np.asarray(values)[nearest] > 0, 2.0**bent, 0)
    return f0


def _louder(gain: Gain, decibels: Sequence[float], frames: Sequence[slice], count: int) -> Gain:
    if not any(decibels):
        return gain
    curve = np.zeros(count + 1)
    for value, where in zip(decibels, frames, strict=True):
        curve[where] = value
    factors = (10 ** (smooth(curve) / 20)).astype(np.float32)
    return replace(gain, factors=factors if gain.factors is None else gain.factors * factors)
