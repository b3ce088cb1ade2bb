"""Realistic inputs of one generator window, to try a generator out and to learn the shapes of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray

from worker.providers.targets import StageTarget
from worker.run_control import RunControl
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared
from worker.split.rewrites.rewrite import STATISTICS
from worker.split.segments.segment import Prosody
from worker.split.segments.source import HarmonicSource
from worker.split.segments.stage import LoadedStage

_STYLE_DEVIATION = 0.15
"""Standard deviation of the published voices' style values."""

_LEAST_DURATION = 2
"""Shortest duration of a phoneme, in frames at 80 Hz."""


def window_inputs(prepared: Prepared, frames: int, seed: int = 0) -> dict[str, NDArray[Any]]:
    """The generator's inputs (statistics included) for a window of this many frames at 80 Hz, by name and in order:
    computed from random phonemes and a random style by the other stages on the CPU.

    Raises:
        EngineError, EngineUnavailable: the stages don't work.
    """
    random = np.random.default_rng(seed)
    style = _STYLE_DEVIATION * random.standard_normal((1, 256), np.float32)
    phonemes = random.choice(sorted(DEFAULT_VOCAB.values()), (frames + frames % 2) // _LEAST_DURATION)
    tokens = np.array([[0, *phonemes, 0]])
    text, f0, energy, durations = _run(prepared, "prosody", [tokens, style, np.ones(1)])[1]
    prosody = Prosody(text, f0, energy, durations.ravel(), style)
    begin = (prosody.frames - frames) // 4 * 2
    features = _run(prepared, "decoder", [text, f0, energy, style])[1][0]
    source = HarmonicSource(_stage(prepared, "source"), prepared.manifest.noise, seed, f0, prosody.frames, RunControl())
    harmonics = source.harmonics(begin, begin + frames, 1)
    window = [features[..., begin : begin + frames], harmonics, style]
    names, (_, *statistics) = _run(prepared, "generator-exact", window)
    return dict(zip([*names, *STATISTICS], [*window, *statistics], strict=True))


def _stage(prepared: Prepared, name: str) -> LoadedStage:
    return LoadedStage(prepared.folder / f"{name}.onnx", WorkerSettings(), StageTarget())


def _run(prepared: Prepared, name: str, arrays: list[NDArray[Any]]) -> tuple[list[str], list[NDArray[Any]]]:
    """Names of a stage's inputs, and its outputs."""
    stage = _stage(prepared, name)
    names = [given.name for given in stage.session(1).get_inputs()]
    return names, stage.run(arrays, 1, RunControl())
