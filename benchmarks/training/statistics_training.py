"""Make the predictor of a model's AdaIN statistics: python -m benchmarks.training.statistics_training --out FILE.

All voices speak texts of all lengths, whole, with one thread: 963 texts of 43,000 phonemes for 54 voices
(`--samples DIR` keeps what was spoken, and several processes may share the folder). A ridge regression with a kernel
of degree 2 is fitted to that. Why these inputs, weights and kernel: `docs/decisions/statistics.md`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.statistics_samples import Sample, Speaker, Task, file_of, keep, read, tasks
from worker.split.prepared import prepare
from worker.split.segments.statistics import Predictor
from worker.split.speech import EXACT_BELOW
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

WEIGHTS = (1.0, 1.0, 1.0, 0.5, 0.5, 2.83)
"""Weights of the groups of `statistics.describe`; the style, by which voices differ, counts most."""

CURVATURE = 0.03
RIDGE = 0.01
"""Relative to the kernel's mean diagonal."""

DIMENSIONS = 256
COMPONENTS = 192
"""Bounds of the file: 4 MB."""

_FARTHEST = 4.0


def fit(samples: Sequence[Sample], fingerprint: Sequence[float]) -> Predictor:
    """The regression from what describes the samples to their statistics."""
    inputs = np.stack([np.concatenate(sample.described) for sample in samples])
    centre, deviation = inputs.mean(axis=0), inputs.std(axis=0)
    factor = np.where(deviation > 1e-6, 1 / np.maximum(deviation, 1e-6), 0.0)
    sizes = [len(group) for group in samples[0].described]
    weight = np.concatenate([np.full(size, each / size**0.5) for each, size in zip(WEIGHTS, sizes, strict=True)])
    points = np.clip((inputs - centre) * factor, -_FARTHEST, _FARTHEST) * weight
    rotation = np.linalg.svd(points, full_matrices=False)[2][:DIMENSIONS].T.astype(np.float16)
    points = (points @ rotation.astype(np.float64)).astype(np.float16).astype(np.float64)
    scale = 1 / max(float(np.median((points**2).sum(axis=1))), 1e-9)
    unit = np.sqrt(np.mean([sample.statistics.variances for sample in samples], axis=0)) + 1e-6
    targets = np.stack([_target(sample, unit) for sample in samples])
    offset = targets.mean(axis=0)
    product = points @ points.T * scale
    kernel = product + CURVATURE * product**2
    ridge = RIDGE * np.trace(kernel) / len(kernel) * np.eye(len(kernel))
    coefficients = np.linalg.solve(kernel + ridge, targets - offset)
    components = np.linalg.svd(kernel @ coefficients, full_matrices=False)[2][:COMPONENTS]
    steps = np.abs(components).max(axis=1) / 127 + 1e-30
    whole = np.round(components / steps[:, None])
    # The integers' own projection, so that what one component loses by rounding another one makes up for.
    onto = coefficients @ np.linalg.pinv(whole * steps[:, None])
    return Predictor(
        fingerprint=np.asarray(fingerprint, np.float32),
        centre=centre.astype(np.float32),
        factor=factor.astype(np.float32),
        weight=weight.astype(np.float32),
        rotation=rotation,
        points=points.astype(np.float16),
        kernel=np.array([scale, CURVATURE]),
        coefficients=onto.astype(np.float32),
        components=whole.astype(np.int8),
        steps=steps.astype(np.float32),
        offset=offset.astype(np.float32),
        unit=unit.astype(np.float32),
    )


def _target(sample: Sample, unit: NDArray[np.float64]) -> NDArray[np.float64]:
    means, variances = sample.statistics
    return np.concatenate([means / unit, 0.5 * np.log(np.maximum(variances, 1e-12))])


def errors(predictor: Predictor, samples: Sequence[Sample]) -> tuple[float, float]:
    """Root mean square errors: of means in standard deviations, and of logarithms of deviations."""
    unit = np.sqrt(np.mean([sample.statistics.variances for sample in samples], axis=0))
    squares = []
    for sample in samples:
        made = predictor.predict(sample.described)
        mean = (made.means - sample.statistics.means) / unit
        deviation = 0.5 * np.log(made.variances / sample.statistics.variances)
        squares.append([(mean**2).mean(), (deviation**2).mean()])
    mean_error, deviation_error = np.sqrt(np.mean(squares, axis=0))
    return round(float(mean_error), 4), round(float(deviation_error), 4)


def adjusted(predictor: Predictor, samples: Sequence[Sample]) -> Predictor:
    """The predictor with the mean of its errors on these samples added to its offset.

    A rewrite of the graph that shifts channels by constants needs no more (`docs/decisions/statistics.md`).
    """
    differences = []
    for sample in samples:
        made = predictor.predict(sample.described)
        means = (sample.statistics.means - made.means) / predictor.unit
        differences.append(np.concatenate([means, 0.5 * np.log(sample.statistics.variances / made.variances)]))
    return replace(predictor, offset=(predictor.offset + np.mean(differences, axis=0)).astype(np.float32))


def speak_missing(folder: Path, asked: Sequence[Task], speaker: Speaker) -> None:
    """Speak the tasks of which the folder has no sample, in an order of this process's own: processes that share the
    folder seldom make the same sample at the same time.

    Raises:
        EngineError: the model can't speak a task.
    """
    for task in random.sample(asked, len(asked)):
        if not file_of(folder, task).exists():
            keep(folder, task, speaker)
            print(f"{task.name}: {len(task.script)} phonemes", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="Any file of the family, quantised or not.")
    parser.add_argument("--voices", type=Path, default=EMBEDDED)
    parser.add_argument("--out", type=Path, required=True, help="Alongside a model of yours: NAME.statistics.npz.")
    parser.add_argument("--samples", type=Path, help="A folder for what was spoken: a run that ended goes on there.")
    parser.add_argument("--adjust", type=Path, help="A predictor of which only the offsets are fitted again.")
    parser.add_argument("--only-kept", action="store_true", help="Fit to what is in the folder, and speak nothing.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.samples or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        prepared = prepare(options.model, folder / "stages")
        bank = VoiceBank.open(options.voices)
        speaker = Speaker(prepared, bank)
        asked = list(tasks(bank))
        if not options.only_kept:
            speak_missing(folder, asked, speaker)
        samples = [read(file) for file in (file_of(folder, task) for task in asked) if file.exists()]
        if options.adjust:
            samples = [sample for sample in samples if sample.frames >= EXACT_BELOW]
            given = Predictor.load(options.adjust)
            halves = samples[::2], samples[1::2]
            print("errors of means and log deviations, before:", *errors(given, samples))
            print("one half's constants, the other half's errors:", *errors(adjusted(given, halves[0]), halves[1]))
            predictor = adjusted(given, samples)
        else:
            predictor = fit(samples, prepared.manifest.fingerprint)
    with options.out.open("wb") as file:
        predictor.save(file)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes from {len(samples)} segments")


if __name__ == "__main__":
    main()
