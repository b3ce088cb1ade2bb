"""Spectrograms of one text spoken several ways, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.quality.renderings import Rendering
from shm.audio import SAMPLE_RATE

_SHOWN = 8000
"""Hz, the highest that a picture shows."""


def draw(out: Path, named: Sequence[tuple[str, Rendering]]) -> Path | None:
    """A PNG with a spectrogram for each, one above the other, cuts marked; None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 2.2 * len(named)), layout="constrained")
    rows = figure.subplots(len(named), sharex=True, squeeze=False)[:, 0]
    for axes, (name, rendering) in zip(rows, named, strict=True):
        samples = rendering.samples.astype(float) + np.random.default_rng(0).normal(0, 1, len(rendering.samples))
        axes.specgram(samples, NFFT=512, noverlap=384, Fs=SAMPLE_RATE, cmap="magma", vmin=-60)
        for _, _, began in rendering.cuts:
            axes.axvline(began / SAMPLE_RATE, color="white", linewidth=1, linestyle=":")
        axes.set(title=name, ylim=(0, _SHOWN), ylabel="Hz")
    rows[-1].set_xlabel("s")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=80)
    return out
