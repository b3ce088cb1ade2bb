"""One run of a short segment without most of its silence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.run_control import RunControl
from worker.split.segments.segment import Array, Prosody
from worker.split.segments.source import HARMONICS, HarmonicSource
from worker.split.segments.stage import LoadedStage
from worker.split.segments.windows import FRAME_SAMPLES
from worker.split.silence import shortened

_FIRST_STAGE = 10
"""Moments of the generator's first stage per frame at 80 Hz; the second stage has as many as the harmonics."""

_FADE = 240
"""Samples (10 ms) in which the sound falls to the zeros: its last silence reaches -58 dBFS."""


def in_weighted_run(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> NDArray[np.floating[Any]]:
    """Vocode a segment from the end of its lead on. Its last silence, which is far below what can be heard, is zeros.

    Args:
        generator: the one of `worker.split.rewrites.weighted`.

    Raises:
        Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
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
