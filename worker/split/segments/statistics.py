"""AdaIN's statistics of a segment, predicted before any of its sound is made.

The generator's norms take the mean and variance of each channel over the whole segment, which a window doesn't have.
Both can be predicted from values known before the generator runs: the style, and averages over time of the decoder's
features and of the pitch and energy curves. A predictor is a kernel regression from those to the statistics, made once
for a family of models with the same weights (`benchmarks.training.statistics_training`). The prediction is a function
of the segment alone, so windows join without a seam and a resumed segment has the same samples.
"""

from __future__ import annotations

import hashlib
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
"""Suffix of a predictor's file. The file may lie alongside the model that it was made for, under any name."""

SHIPPED = f"kokoro-v1.0{SUFFIX}"

_SAME_WEIGHTS = 0.02
"""Relative distance of two fingerprints up to which models are one family: half precision keeps it below 0.001."""

_FARTHEST = 4.0
"""Standard deviations at which an unusual input is clipped."""

_PARTS = 32
"""Parts in which the components are converted to 64 bits: each fits into a processor's cache."""

_LEAKY = 0.1
"""Slope of the generator's first activation."""

_OCTAVES = np.linspace(0.25, 3.5, 14)
"""Centres of the pitch classes, in octaves above 50 Hz."""

_ENERGIES = np.linspace(0.0, 9.2, 12)
"""Centres of the energy classes. Nearly all frames of the published voices are below the last one."""

Vector = NDArray[np.float32]


class Statistics(NamedTuple):
    """Statistics of the generator's norms: one value per channel, each vector of shape [channels]."""

    means: Vector
    variances: Vector


def describe(
    features: NDArray[Any], f0: NDArray[Any], energy: NDArray[Any], durations: NDArray[Any], style: NDArray[Any]
) -> list[NDArray[np.float64]]:
    """The predictor's inputs for a segment, in groups that have one weight each.

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
    """Share of each value that belongs to each class: triangles that overlap by half, [values, classes]."""
    clipped = np.clip(values, centres[0], centres[-1])
    shares: NDArray[np.float64] = np.maximum(0, 1 - np.abs(clipped[:, None] - centres) / (centres[1] - centres[0]))
    return shares


@dataclass(frozen=True, slots=True)
class Predictor:
    """A regression with the kernel u + curvature u², u = x·y / scale, of inputs that are centred, scaled and rotated.

    Numbers are stored compactly (16-bit floats, 8-bit target components) and computed in 64 bits, so that another
    process with another number of threads gets the same statistics.
    """

    fingerprint: NDArray[Any]
    """Fingerprint of the models that the predictor is for (`worker.split.rewrites.stage_files.fingerprint`)."""
    centre: NDArray[Any]
    """[inputs]"""
    factor: NDArray[Any]
    """[inputs]: reciprocal of each input's standard deviation."""
    weight: NDArray[Any]
    """[inputs]: weight of each input's group."""
    rotation: NDArray[Any]
    """[inputs, dimensions]"""
    points: NDArray[Any]
    """[points, dimensions]: the segments that the predictor was trained on."""
    kernel: NDArray[Any]
    """[2]: reciprocal of the scale, and the curvature."""
    coefficients: NDArray[Any]
    """[points, components]"""
    components: NDArray[Any]
    """[components, 2 * channels], 8-bit integers"""
    steps: NDArray[Any]
    """[components]: quantisation steps of the integers."""
    offset: NDArray[Any]
    """[2 * channels]: offset of the targets, in their unit."""
    unit: NDArray[Any]
    """[channels]: the standard deviation by which means are divided as targets. The other targets are half the
    logarithms of variances."""

    def predict(self, described: Sequence[NDArray[np.float64]]) -> Statistics:
        inputs = (np.concatenate(described) - self.centre) * self.factor
        point = (np.clip(inputs, -_FARTHEST, _FARTHEST) * self.weight) @ self.rotation.astype(np.float64)
        product = self.points.astype(np.float64) @ point * self.kernel[0]
        similar = product + self.kernel[1] * product**2
        values = (similar @ self.coefficients.astype(np.float64)) * self.steps
        parts = np.array_split(self.components, _PARTS, axis=1)
        targets = np.concatenate([values @ part.astype(np.float64) for part in parts]) + self.offset
        means, deviations = np.split(targets, 2)
        return Statistics((means * self.unit).astype(np.float32), np.exp(2 * deviations).astype(np.float32))

    @property
    def channels(self) -> int:
        return len(self.unit)

    @property
    def digest(self) -> str:
        """A hash of all numbers of the predictor: equal digests give equal statistics."""
        found = hashlib.blake2b(digest_size=8)
        for each in fields(self):
            found.update(np.ascontiguousarray(getattr(self, each.name)).tobytes())
        return found.hexdigest()

    def fits(self, fingerprint: Sequence[float], channels: int) -> bool:
        """True if the predictor was made for a model with this fingerprint and this number of generator norm
        channels."""
        other = np.asarray(fingerprint, np.float64)
        if channels != self.channels or other.shape != self.fingerprint.shape or not other.size:
            return False
        mine = self.fingerprint.astype(np.float64)
        return bool(np.linalg.norm(other - mine) <= _SAME_WEIGHTS * np.linalg.norm(mine))

    def save(self, file: IO[bytes]) -> None:
        """Write the predictor to a file that `load` reads."""
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
    """The predictor of a model's statistics: from a file alongside the model, or the one that this package contains.

    Returns None if no predictor fits this family of models. An unusable file is reported in one log line.
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
