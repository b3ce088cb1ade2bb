"""The silence at a short segment's edges, of which a run needs only a sample.

A segment begins and ends with up to half a second of silence in which the generator's activations hardly change. A run
of some of those frames, each of which counts for several, has the statistics of the whole segment
(`worker.split.rewrites.norm_statistics`), and makes all that can be heard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.engine import RunControl
from worker.split.segments.segment import HARMONICS, Array, HarmonicSource, Prosody
from worker.split.segments.stage import LoadedStage
from worker.split.segments.windows import AUDIBLE_ENERGY, FRAME_SAMPLES

EDGE = 1
"""Units (25 ms, the 40 Hz of durations) at the segment's very ends that always run: activations there differ from those
in the middle of silence, because convolutions see zeros beyond. Without them the sound is too loud."""

TRAIL = 4
"""Units after the last audible energy that are heard."""

GROUP = 8
"""Units of silence of which one runs, and counts for all."""

_UNIT = 2
"""Frames at 80 Hz in a unit. The decoder makes both frames of a unit of one input, and the first ones differ from the
second ones, so they stay together."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The frames of a segment that run."""

    frames: NDArray[np.int64]
    """Frames at 80 Hz, rising."""
    weights: NDArray[np.int64]
    """Number of the segment's frames that each of them stands for."""
    begin: int
    """Place, among `frames`, of the first frame that is heard."""
    heard: int
    """Number of frames that are heard, which follow one another."""


def shortened(prosody: Prosody) -> Shortened:
    """A segment without most of the silence before its lead's end and after its last audible energy."""
    end, lead = prosody.frames // _UNIT, prosody.lead // _UNIT
    heard = _heard_until(prosody.energy, end)
    complete = (*range(min(EDGE, lead)), *range(lead, heard), *range(max(heard, end - EDGE), end))
    units = dict.fromkeys(complete, 1) | _sampled(EDGE, lead) | _sampled(heard, end - EDGE)
    places, weights = (np.array(column, np.int64) for column in zip(*sorted(units.items()), strict=True))
    frames = (_UNIT * places[:, None] + np.arange(_UNIT)).ravel()
    first = int(np.searchsorted(frames, prosody.lead))
    return Shortened(frames, np.repeat(weights, _UNIT), first, _UNIT * (heard - lead))


def _heard_until(energy: Array, end: int) -> int:
    """The unit at which the segment's last silence begins; `end` if it has none, or no audible energy at all."""
    audible = np.flatnonzero(energy.ravel() > AUDIBLE_ENERGY)
    return min(end, int(audible[-1]) // _UNIT + 1 + TRAIL) if len(audible) else end


def _sampled(begin: int, end: int) -> dict[int, int]:
    """Units in the middle of equal groups of the units from `begin` to `end`, and the size of each group."""
    if begin >= end:
        return {}
    groups = np.array_split(np.arange(begin, end), max(1, round((end - begin) / GROUP)))
    return {int(group[(len(group) - 1) // 2]): len(group) for group in groups}


_FIRST_STAGE = 10
"""Moments of the generator's first stage per frame at 80 Hz; the second stage has as many as the harmonics."""

_FADE = 240
"""Samples (10 ms) in which the sound falls to the zeros: its last silence reaches -58 dBFS."""


def in_weighted_run(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> NDArray[np.floating[Any]]:
    """Vocode a segment from the end of its lead on. Its last silence, which is far below what can be heard, is zeros.

    Args:
        generator: the one of `worker.split.rewrites.norm_statistics`.
    """
    part = shortened(prosody)
    harmonics = source.harmonics(0, prosody.frames, threads)
    frames = harmonics[..., :-1].reshape(*harmonics.shape[:-1], prosody.frames, HARMONICS)[..., part.frames, :]
    kept = [frames.reshape(*harmonics.shape[:-1], -1), harmonics[..., -1:]]
    first = np.repeat(part.weights, _FIRST_STAGE)
    second = np.append(np.repeat(part.weights, HARMONICS), part.weights[-1])
    arrays = [features[..., part.frames], np.concatenate(kept, axis=-1), prosody.style]
    arrays += [weights / weights.sum() for weights in (first, second)]
    [audio] = generator.run(arrays, threads, control)
    made = audio.ravel()[part.begin * FRAME_SAMPLES :][: part.heard * FRAME_SAMPLES]
    silence = (prosody.frames - prosody.lead) * FRAME_SAMPLES - len(made)
    if silence:
        made = made.copy()
        made[-_FADE:] *= np.linspace(1, 0, _FADE, dtype=made.dtype)
    return np.concatenate([made, np.zeros(silence, made.dtype)])
