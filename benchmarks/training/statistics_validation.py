"""Accuracy of AdaIN statistics that were predicted before a segment is made.

    python -m benchmarks.training.statistics_validation DIR

DIR has the samples of `benchmarks.training.statistics_training --samples DIR`. Ways to know them are compared by
cross-validation in six parts: with texts left out (their voices were heard with others), and with voices left out.
Errors are root mean squares over channels and segments of at least 1.7 s: of means in standard deviations, and of
logarithms of deviations.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.report import Table
from benchmarks.training.statistics_samples import BLEND, Sample, read
from benchmarks.training.statistics_training import fit
from worker.split.segments.statistics import Statistics
from worker.split.speech import EXACT_BELOW

PARTS = 6

Named = tuple[str, Sample]
"""A voice's name, and one segment of it."""

Way = Callable[[Sequence[Named], Sequence[Named]], Iterator[Statistics]]
"""Statistics for the second, from knowing the first."""


def average_of_voice(known: Sequence[Named], asked: Sequence[Named]) -> Iterator[Statistics]:
    """A voice's averages over its segments, by length."""
    for voice, _ in asked:
        own = [sample for name, sample in known if name == voice]
        weights = [sample.frames for sample in own]
        means, variances = (
            np.average([sample.statistics[place] for sample in own], axis=0, weights=weights) for place in (0, 1)
        )
        yield Statistics(means, variances)


def line_of_voice(known: Sequence[Named], asked: Sequence[Named]) -> Iterator[Statistics]:
    """A voice's least-squares line of mean and second moment on 1 / length."""
    for voice, sample in asked:
        own = [other for name, other in known if name == voice]
        design = np.stack([[1.0, 100 / other.frames] for other in own])
        first = np.stack([other.statistics.means for other in own]).astype(np.float64)
        second = first**2 + np.stack([other.statistics.variances for other in own])
        place = np.array([1.0, 100 / sample.frames])
        mean, moment = (place @ np.linalg.lstsq(design, values, rcond=None)[0] for values in (first, second))
        yield Statistics(mean, np.maximum(moment - mean**2, 1e-8))


def predicted(known: Sequence[Named], asked: Sequence[Named]) -> Iterator[Statistics]:
    """Predictions for the asked samples, made as the engine makes them."""
    predictor = fit([sample for _, sample in known], ())
    for _, sample in asked:
        yield predictor.predict(sample.described)


def errors(way: Way, samples: Sequence[Named], part_of: NDArray[np.int64]) -> tuple[float, float]:
    """Errors of means, and of the logarithms of deviations."""
    unit = np.sqrt(np.mean([sample.statistics.variances for _, sample in samples], axis=0))
    squares = []
    for part in range(PARTS):
        known = [each for each, its in zip(samples, part_of, strict=True) if its != part]
        asked = [each for each, its in zip(samples, part_of, strict=True) if its == part]
        asked = [each for each in asked if each[1].frames >= EXACT_BELOW]
        for (_, sample), made in zip(asked, way(known, asked), strict=True):
            mean = (made.means - sample.statistics.means) / unit
            deviation = 0.5 * np.log(made.variances / sample.statistics.variances)
            squares.append([(mean**2).mean(), (deviation**2).mean()])
    mean_error, deviation_error = np.sqrt(np.mean(squares, axis=0))
    return float(mean_error), float(deviation_error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    files = [file for file in sorted(folder.glob("??-*.npz")) if not file.name.startswith(BLEND)]
    samples = [(file.stem[3:], read(file)) for file in files]
    voices = sorted({name for name, _ in samples})
    texts = np.random.default_rng(0).permutation(len(samples)) % PARTS
    by_voice = np.array([voices.index(name) % PARTS for name, _ in samples])
    rows = [
        ("the voice's average", *errors(average_of_voice, samples, texts)),
        ("the voice's line on 1 / length", *errors(line_of_voice, samples, texts)),
        ("predicted, texts left out", *errors(predicted, samples, texts)),
        ("predicted, voices left out", *errors(predicted, samples, by_voice)),
    ]
    title = f"{len(samples)} segments of {len(voices)} voices"
    print(Table(title, ("statistics", "means", "log deviations"), rows).as_markdown())


if __name__ == "__main__":
    main()
