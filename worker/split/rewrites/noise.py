"""The source's random numbers as inputs: the same seed gives the same noise, in every run and every process."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray


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
