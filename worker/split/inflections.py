"""Inflections of a segment: what they change between the model's prosody and its decoder, and the level of its sound.

Durations are changed by repeating or leaving out frames of each phoneme's features, and by stretching pitch and energy
along with them. The pitch is shifted where it is voiced. The level is a gain on the samples, because the model's energy
is no level: it colours the sound as well.

A segment's score is made of its prosody, and an edited one stands in its place (`shm.score`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.inflection import InflectedSpan, at_fraction
from shm.score import (
    ENERGY_STEP,
    HERTZ_STEP,
    HIGHEST_HERTZ,
    LEAST_ENERGY,
    LOWEST_HERTZ,
    MOST_ENERGY,
    MOST_UNITS,
    PhonemeScore,
    Score,
)
from worker.split.gain import Gain
from worker.split.segments.segment import Array, Prosody
from worker.split.segments.windows import AUDIBLE_ENERGY

VOICED = 20.0
"""Hz above which a frame is voiced: the model's curve falls below it between voiced sounds."""

_BEND = 0.2
"""Octaves."""

EDGE = 3
"""Frames at 80 Hz (37 ms) over which a shift or a gain begins and ends, half of them on each side of the border."""

UNITS_PER_SECOND = 40

UNITS_PER_SEMITONE = 1.2
"""Units that the stressed vowel under a rise has at least for each semitone (30 ms): in less, nobody hears where it
goes."""

_RISEN = 0.5
"""Fraction of the time under a rise after which its end is reached."""

_SOUNDING = 1 / 3
"""Fraction of the energy of the loudest tenth of voiced frames above which a frame sounds: its pitch counts for the
segment's mean, and under a rise it is voiced."""


def inflected(prosody: Prosody, spans: Sequence[InflectedSpan], level: float = 1.0) -> tuple[Prosody, Gain]:
    """The prosody with the spans' inflections, and the gain on its sound; `level` is the voice's own factor."""
    if not spans:
        return prosody, Gain(None, level)
    prosody = _stretched(prosody, spans)
    places = [_frames(prosody, span) for span in spans]
    pitch = _pitched(prosody, spans, places)
    prosody = replace(prosody, f0=pitch.reshape(prosody.f0.shape).astype(prosody.f0.dtype))
    if not any(span.inflection.volume for span in spans):
        return prosody, Gain(None, level)
    decibels = smooth(
        _curve(
            prosody.frames + 1,
            [(where, span.inflection.volume) for where, span in zip(places, spans, strict=True)],
            0.0,
        )
    )
    return prosody, Gain((10 ** (decibels / 20)).astype(np.float32), level)


def _frames(prosody: Prosody, span: InflectedSpan) -> tuple[int, int]:
    """Frames at 80 Hz of a span. The silence at a segment's edge belongs to the words beside it."""
    ends = 2 * np.cumsum(prosody.durations)
    phonemes = len(prosody.durations) - 2
    start = 0 if span.start == 0 else int(ends[span.start])
    return start, prosody.frames if span.end >= phonemes else int(ends[span.end])


def _stretched(prosody: Prosody, spans: Sequence[InflectedSpan]) -> Prosody:
    old = prosody.durations
    durations, owed, end = old.copy(), 0.0, 0
    for span in spans:
        inside = slice(span.start + 1, span.end + 1)
        wanted = old[inside] * span.inflection.stretch
        if span.seconds and old[inside].any():
            wanted = old[inside] * (span.seconds * UNITS_PER_SECOND / old[inside].sum())
        if 0 < (now := wanted[:2].sum()) < (least := UNITS_PER_SEMITONE * span.inflection.rise):
            wanted[:2] *= least / now
        # No rounding error adds up over neighbours, nor passes on to what isn't inflected; a phoneme that sounds keeps
        # a unit.
        owed *= span.start <= end + 1
        borders = np.floor(np.cumsum(wanted) + owed + 0.5).astype(np.int64)
        durations[inside] = np.maximum(np.diff(borders, prepend=0), np.minimum(old[inside], 1))
        owed, end = owed + float(wanted.sum() - durations[inside].sum()), span.end
    return prosody if np.array_equal(durations, old) else lasting(prosody, durations)


def lasting(prosody: Prosody, durations: NDArray[np.int64]) -> Prosody:
    """The prosody with other durations: frames are repeated or left out, pitch and energy stretched along."""
    old = prosody.durations
    units = [
        begin + np.minimum((np.arange(new) * length) // max(new, 1), max(length - 1, 0))
        for begin, length, new in zip(np.cumsum(old) - old, old, durations, strict=True)
    ]
    ends_old, ends_new = np.concatenate(([0], np.cumsum(old))), np.concatenate(([0], np.cumsum(durations)))
    moments = (np.arange(2 * int(ends_new[-1])) + 0.5) / 2
    places = np.clip(2 * np.interp(moments, ends_new, ends_old) - 0.5, 0, prosody.frames - 1)
    return replace(
        prosody,
        text=np.ascontiguousarray(prosody.text[..., np.concatenate(units).astype(np.int64)]),
        f0=_sampled(prosody.f0, places, voiced=True),
        energy=_sampled(prosody.energy, places),
        durations=durations,
    )


def _sampled(curve: Array, places: NDArray[np.float64], *, voiced: bool = False) -> Array:
    """The curve, [1, frames], at places between its frames. `voiced`: nothing lies between voice and none."""
    values = curve.ravel()
    before = np.floor(places).astype(np.int64)
    after = np.minimum(before + 1, len(values) - 1)
    share = places - before
    found = values[before] * (1 - share) + values[after] * share
    if voiced:
        apart = (values[before] > VOICED) != (values[after] > VOICED)
        found = np.where(apart, np.where(share < 0.5, values[before], values[after]), found)
    return found.astype(curve.dtype)[None]


def _pitched(prosody: Prosody, spans: Sequence[InflectedSpan], places: Sequence[tuple[int, int]]) -> NDArray[Any]:
    """The pitch, [frames]. A contour's time is that of its words' sound."""
    f0, ends = prosody.f0.ravel(), 2 * np.cumsum(prosody.durations)
    voiced = f0 > VOICED
    if not voiced.any():
        return f0
    octaves = np.log2(np.maximum(f0, VOICED))
    # Where the sound dies away the model's curve wanders below all voices.
    energy = prosody.energy.ravel()
    sounding = energy > _SOUNDING * float(np.percentile(energy[voiced], 90))
    heard = voiced & sounding if (voiced & sounding).any() else voiced
    mean = float(octaves[heard].mean())
    shifts, ranges = [], []
    for (start, end), span in zip(places, spans, strict=True):
        inflection = span.inflection
        shift: Any = inflection.pitch / 12
        if inflection.hertz:
            shift += np.log2(inflection.hertz) - mean
        if inflection.contour:
            # A stop or comma at the span's end lasts, but isn't heard.
            heard_in = np.flatnonzero(energy[int(ends[span.start]) : int(ends[span.end])] > AUDIBLE_ENERGY)
            first, last = (heard_in[0], heard_in[-1]) if len(heard_in) else (0, 0)
            moments = (np.arange(start, end) - int(ends[span.start]) - first) / max(last - first, 1)
            shift = shift + np.array([at_fraction(inflection.contour, float(each)) for each in moments]) / 12
        shifts.append(((start, end), shift))
        ranges.append(((start, end), inflection.range))
    shift, factor = smooth(_curve(len(f0), shifts, 0.0)), smooth(_curve(len(f0), ranges, 1.0))
    wanted = mean + (octaves - mean) * factor + shift
    risen = np.zeros_like(voiced)
    for (_, end), span in zip(places, spans, strict=True):
        start = int(ends[span.start])
        if span.inflection.rise and sounding[start:end].any():
            # A falling voice creaks out where a rising one doesn't.
            frames = slice(start, start + int(np.flatnonzero(sounding[start:end])[-1]) + 1)
            share = np.minimum(np.linspace(0, 1 / _RISEN, frames.stop - start), 1.0)
            low = min(octaves[start], mean) if voiced[start] else mean
            top = mean + span.inflection.rise * span.inflection.range / 12
            wanted[frames] = low + (top - low) * share + shift[frames]
            risen[frames] = sounding[frames]
    changed = within_limits(wanted, octaves)
    return np.where(voiced & ((shift != 0) | (factor != 1)) | risen, 2.0**changed, f0)


def _curve(frames: int, values: Sequence[tuple[tuple[int, int], Any]], elsewhere: float) -> NDArray[np.float64]:
    curve = np.full(frames, elsewhere)
    for (start, end), value in values:
        curve[start:end] = value
    curve[-1] = curve[-2] if frames > 1 else curve[-1]
    return curve


def smooth(curve: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over `EDGE` frames, so that nothing jumps at a span's border."""
    padded = np.pad(curve, EDGE // 2, mode="edge")
    smoothed: NDArray[np.float64] = np.lib.stride_tricks.sliding_window_view(padded, EDGE).mean(axis=-1)
    return smoothed


def within_limits(octaves: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Octaves bent towards the limits of a voice; the model's own pitch is never bent."""
    high, low = np.log2(HIGHEST_HERTZ) - _BEND, np.log2(LOWEST_HERTZ) + _BEND
    bent = np.where(octaves > high, high + _BEND * np.tanh((octaves - high) / _BEND), octaves)
    bent = np.where(octaves < low, low - _BEND * np.tanh((low - octaves) / _BEND), bent)
    return np.where((octaves > high) & (octaves > own) | (octaves < low) & (octaves < own), bent, octaves)


def score_of(prosody: Prosody) -> Score:
    """The prosody's score, without the silence at the segment's edges."""
    pitch, energy = prosody.f0.ravel(), prosody.energy.ravel()
    hertz = np.rint(np.where(pitch > VOICED, pitch, 0) / HERTZ_STEP).astype(int)
    steps = np.rint(energy / ENERGY_STEP).astype(int)
    return tuple(
        PhonemeScore(int(units), tuple(hertz[frames].tolist()), tuple(steps[frames].tolist()))
        for units, frames in zip(prosody.durations[1:-1], _frames_of_each(prosody.durations), strict=True)
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
    frames = _frames_of_each(durations)
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


def _frames_of_each(durations: NDArray[np.int64]) -> list[slice]:
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
