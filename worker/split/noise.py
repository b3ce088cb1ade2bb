"""The source's random numbers as inputs: the same seed gives the same noise, in every run and every process."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """One input of the source in place of a random operation."""

    kind: Literal["normal", "uniform"]
    centre: float
    """The mean, or the lowest value."""
    spread: float
    """The standard deviation, or the highest value less the lowest."""
    shape: tuple[tuple[int, int], ...]
    """Each dimension as (a, b): a for each frame of F0, and b."""

    def draw(self, generator: np.random.Generator, frames: int) -> NDArray[np.float32]:
        """The first frames' numbers are the same, however many follow: they are drawn along time."""
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
    """For a segment of so many frames of F0."""
    return [
        noise.draw(np.random.Generator(np.random.SFC64([seed % 2**64, place])), frames)
        for place, noise in enumerate(noises)
    ]
