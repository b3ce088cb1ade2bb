"""AdaIN's statistics of a voice: measured once for each model, then frozen for good.

A norm takes the mean and variance of each channel over the whole segment, which a window can't know. A voice's own
averages stand for them: frozen, so that each sample depends on its surroundings alone and windows join without a seam.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import threading
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]


class Statistics(NamedTuple):
    """Of the front's and the generator's norms: one value per channel, each vector of shape [channels]."""

    front_means: Vector
    front_variances: Vector
    generator_means: Vector
    generator_variances: Vector


class VoiceStatistics:
    """The frozen statistics of one model's voices, kept in a folder; a voice is known by a checksum of its numbers.

    What is frozen never changes, because the samples of a job depend on it: a file is only ever added.
    """

    def __init__(self, folder: Path, channels: tuple[int, int]) -> None:
        """`channels`: of the front's and of the generator's norms."""
        self._folder = folder
        self._sizes = (channels[0], channels[0], channels[1], channels[1])
        self._frozen: dict[str, Statistics] = {}
        self._lock = threading.Lock()

    def frozen(self, voice: str) -> Statistics | None:
        """The voice's statistics, if they are frozen."""
        with self._lock:
            if voice not in self._frozen and (found := self._load(voice)):
                self._frozen[voice] = found
            return self._frozen.get(voice)

    def freeze(self, voice: str, measured: Statistics) -> None:
        """Keep what was measured, unless the voice has statistics: who was first is right."""
        with self._lock:
            if voice not in self._frozen:
                self._frozen[voice] = self._kept(voice, measured)

    def _path(self, voice: str) -> Path:
        return self._folder / f"{voice}.npz"

    def _kept(self, voice: str, statistics: Statistics) -> Statistics:
        """In the folder, unless another process was first: then that one's are the voice's."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix="unfinished-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    np.savez(file, allow_pickle=False, **statistics._asdict())
                os.link(name, self._path(voice))
            except FileExistsError:
                return self._load(voice) or statistics
            finally:
                Path(name).unlink()
        except OSError as error:
            log.warning("a voice's statistics can't be kept in %s, so they are measured again: %s", self._folder, error)
        return statistics

    def _load(self, voice: str) -> Statistics | None:
        path = self._path(voice)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                found = Statistics(*(archive[name] for name in Statistics._fields))
            if tuple(vector.shape for vector in found) != tuple((size,) for size in self._sizes):
                raise ValueError("another model's")
            if not all(np.isfinite(vector).all() for vector in found):
                raise ValueError("not numbers")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            log.warning("a voice's statistics in %s can't be used and are measured again: %s", path, error)
            path.unlink(missing_ok=True)
            return None
        return found


def voice_key(checksums: list[tuple[str, float]]) -> str:
    """Of a blend: its voices' checksums with their weights, in whatever order."""
    said = " ".join(f"{checksum}*{weight!r}" for checksum, weight in sorted(checksums))
    return hashlib.sha256(said.encode()).hexdigest()[:32]
