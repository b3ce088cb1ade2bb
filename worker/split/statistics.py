"""AdaIN's statistics of a segment, predicted before any of its sound is made.

The generator's norms take the mean and variance of each channel over the whole segment, which a window can't know.
They follow from what is known before the generator runs: the style, and averages over time of what the front gives it
and of the pitch and energy curves. A predictor is a kernel regression from those to the statistics, made once for a
family of models with the same weights (`python -m benchmarks.statistics_training`). The prediction is a function of
the segment alone, so that windows join without a seam and a segment that is resumed has the same samples.
"""

from __future__ import annotations

import logging
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

SUFFIX = ".statistics.npz"
"""Of a predictor's file. It may lie beside the model that it was made for, under any name."""

SHIPPED = f"kokoro-v1.0{SUFFIX}"

_SAME_WEIGHTS = 0.02
"""Relative distance of two fingerprints up to which models are one family: half precision keeps it below 0.001."""

_FARTHEST = 4.0
"""Standard deviations at which an input that is out of the ordinary is cut off."""

_LEAKY = 0.1
"""Slope of the activation that the generator begins with."""

_OCTAVES = np.linspace(0.25, 3.5, 14)
"""Above 50 Hz: the centres of the classes of pitch."""

_ENERGIES = np.linspace(0.0, 9.2, 12)
"""The centres of the classes of energy. 99 % of the published voices' frames are below the last one."""

Vector = NDArray[np.float32]


class Statistics(NamedTuple):
    """Of the generator's norms: one value per channel, each vector of shape [channels]."""

    means: Vector
    variances: Vector


def describe(
    features: NDArray[Any], f0: NDArray[Any], energy: NDArray[Any], durations: NDArray[Any], style: NDArray[Any]
) -> list[NDArray[np.float64]]:
    """What the statistics are predicted from, in groups that have one weight each.

    Args:
        features: of the whole segment, [1, channels, frames at 80 Hz].
        f0: in hertz, [1, frames at 80 Hz].
        energy: as `f0`.
        durations: frames at 40 Hz per token, with the pads first and last.
        style: [1, 256].
    """
    pitch, loudness = f0.ravel().astype(np.float64), energy.ravel().astype(np.float64)
    frames, voiced = len(pitch), pitch > 10
    activated = features[0].astype(np.float64)
    activated = np.where(activated > 0, activated, _LEAKY * activated)
    octaves = np.log2(np.maximum(pitch, 10) / 50)
    classes = _shares(octaves, _OCTAVES) * voiced[:, None]
    edges = 2 * float(durations[0] + durations[-1]) / frames
    level = [loudness[mask].mean() if mask.any() else 0.0 for mask in (voiced, ~voiced)]
    shape = [100 / frames, edges, voiced.mean(), np.log(frames), loudness.mean(), loudness.std(), *level]
    quantiles = np.quantile(loudness, [0.05, 0.25, 0.5, 0.75, 0.95])
    return [
        np.array(shape, np.float64),
        classes.mean(axis=0),
        np.concatenate([_shares(loudness, _ENERGIES).mean(axis=0), quantiles]),
        activated.mean(axis=1),
        (activated**2).mean(axis=1),
        style.ravel().astype(np.float64),
    ]


def _shares(values: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each value belongs to each class: triangles that overlap by half, [values, classes]."""
    clipped = np.clip(values, centres[0], centres[-1])
    shares: NDArray[np.float64] = np.maximum(0, 1 - np.abs(clipped[:, None] - centres) / (centres[1] - centres[0]))
    return shares


@dataclass(frozen=True, slots=True)
class Predictor:
    """A regression with the kernel u + curvature u², u = x·y / scale, of inputs that are centred, scaled and rotated.

    Numbers are small on disk (16-bit floats, 8-bit target components) and reckoned with in 64 bits, so that another
    process with other threads has the same statistics.
    """

    fingerprint: NDArray[Any]
    """Of the models that it is for: see `worker.split.stage_files.fingerprint`."""
    centre: NDArray[Any]
    """[inputs]"""
    factor: NDArray[Any]
    """[inputs]: one over the standard deviation."""
    weight: NDArray[Any]
    """[inputs]: of each input's group."""
    rotation: NDArray[Any]
    """[inputs, dimensions]"""
    points: NDArray[Any]
    """[points, dimensions]: the segments that it was made from."""
    kernel: NDArray[Any]
    """[2]: one over the scale, and the curvature."""
    coefficients: NDArray[Any]
    """[points, components]"""
    components: NDArray[Any]
    """[components, 2 * channels], 8-bit integers"""
    steps: NDArray[Any]
    """[components]: of the integers."""
    offset: NDArray[Any]
    """[2 * channels]: what is added, in the unit of the targets."""
    unit: NDArray[Any]
    """[channels]: the standard deviation by which means are divided as targets. The others are half the logarithms
    of variances."""

    def predict(self, described: Sequence[NDArray[np.float64]]) -> Statistics:
        """The statistics of a segment of which `describe` says that."""
        inputs = (np.concatenate(described) - self.centre) * self.factor
        point = (np.clip(inputs, -_FARTHEST, _FARTHEST) * self.weight) @ self.rotation.astype(np.float64)
        product = self.points.astype(np.float64) @ point * self.kernel[0]
        similar = product + self.kernel[1] * product**2
        values = (similar @ self.coefficients.astype(np.float64)) * self.steps
        targets = values @ self.components.astype(np.float64) + self.offset
        means, deviations = np.split(targets, 2)
        return Statistics((means * self.unit).astype(np.float32), np.exp(2 * deviations).astype(np.float32))

    @property
    def channels(self) -> int:
        return len(self.unit)

    def fits(self, fingerprint: Sequence[float], channels: int) -> bool:
        """Whether it was made for a model with this fingerprint and so many channels of generator norms."""
        other = np.asarray(fingerprint, np.float64)
        if channels != self.channels or other.shape != self.fingerprint.shape or not other.size:
            return False
        mine = self.fingerprint.astype(np.float64)
        return bool(np.linalg.norm(other - mine) <= _SAME_WEIGHTS * np.linalg.norm(mine))

    def save(self, file: IO[bytes]) -> None:
        """As `load` reads it."""
        np.savez_compressed(file, allow_pickle=False, **{each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Predictor:
        """
        Raises:
            ValueError: the file is damaged, or something else.
            OSError: it can't be read.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                found = cls(**{each.name: archive[each.name] for each in fields(cls)})
        except (KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"it is damaged ({error})") from error
        if not all(np.isfinite(getattr(found, each.name)).all() for each in fields(cls)):
            raise ValueError("it has values that are no numbers")
        return found


def predictor_for(model: Path, fingerprint: Sequence[float], channels: int) -> Predictor | None:
    """The predictor of a model's statistics: from a file beside it, or the one that comes with this package.

    None: there is none for this family of models. A file that can't be used is one line in the log.
    """
    with as_file(files(__package__) / SHIPPED) as shipped:
        return next(_fitting([*sorted(model.parent.glob(f"*{SUFFIX}")), shipped], fingerprint, channels), None)


def _fitting(paths: Iterable[Path], fingerprint: Sequence[float], channels: int) -> Iterator[Predictor]:
    for path in paths:
        try:
            predictor = Predictor.load(path)
        except (OSError, ValueError) as error:
            log.warning("the statistics in %s can't be used: %s", path, error)
            continue
        if predictor.fits(fingerprint, channels):
            yield predictor
