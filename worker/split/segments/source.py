"""A segment's harmonics, computed only as far as they are needed.

The source's phase adds up from the segment's beginning, so a window's harmonics take all that comes before it, but
nothing after it. The first window needs half a second of them, which takes a twentieth of the time of ten seconds.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from worker.engine import RunControl
from worker.split.segments.stage import LoadedStage

HARMONICS = 60
"""Frames of harmonics per frame at 80 Hz; one more ends the last frame."""

_MARGIN = 2
"""Frames of F0 beyond the wanted end: without them the last harmonics would differ from those of a longer run."""


class HarmonicSource:
    """Computes a segment's harmonics from its beginning to a limit that follows from the requested window alone:
    `first` frames, or twice as many, or four times, up to all of them. So a window's harmonics don't depend on which
    windows were made before."""

    def __init__(
        self,
        stage: LoadedStage,
        noise: tuple[Noise, ...],
        seed: int,
        f0: NDArray[Any],
        first: int,
        control: RunControl,
    ) -> None:
        """`f0`: pitch of the whole segment, [1, frames at 80 Hz]."""
        self._stage = stage
        self._noise = noise
        self._seed = seed
        self._f0 = f0
        self._first = first + _MARGIN
        self._control = control
        self._made = 0
        self._harmonics: NDArray[Any]

    def harmonics(self, begin: int, end: int, threads: int) -> NDArray[Any]:
        """Harmonics of the frames from `begin` to `end`: shape [1, 22, 60 per frame, and one].

        Raises:
            Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        needed = self._first
        while needed < end + _MARGIN:
            needed *= 2
        needed = min(needed, self._f0.shape[-1])
        if needed != self._made:
            noise = draw_all(self._noise, self._seed, needed)
            arrays = [self._f0[..., :needed], *noise]
            [self._harmonics] = self._stage.run(arrays, threads, self._control)
            self._made = needed
        return self._harmonics[..., begin * HARMONICS : end * HARMONICS + 1]


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """An input of the source that replaces a random operation."""

    kind: Literal["normal", "uniform"]
    centre: float
    """The mean of a normal distribution, or the lowest value of a uniform one."""
    spread: float
    """The standard deviation of a normal distribution, or the highest less the lowest value of a uniform one."""
    shape: tuple[tuple[int, int], ...]
    """Each dimension as a pair (a, b): a values per frame of F0, plus b."""

    def draw(self, generator: np.random.Generator, frames: int) -> NDArray[np.float32]:
        """Draw the noise along time, so that the first frames' numbers don't depend on the number of frames."""
        size = [per_frame * frames + fixed for per_frame, fixed in self.shape]
        time = max(range(len(size)), key=lambda axis: self.shape[axis][0])
        size.insert(0, size.pop(time))
        values: NDArray[np.float32]
        if self.kind == "normal":
            values = generator.standard_normal(size, np.float32)
        else:
            values = generator.random(size, np.float32)
        values *= np.float32(self.spread)
        values += np.float32(self.centre)
        return np.moveaxis(values, 0, time)


def draw_all(noises: tuple[Noise, ...], seed: int, frames: int) -> list[NDArray[Any]]:
    """Draw the noise inputs of a segment of this many frames of F0."""
    return [
        noise.draw(np.random.Generator(np.random.SFC64([seed % 2**64, place])), frames)
        for place, noise in enumerate(noises)
    ]
