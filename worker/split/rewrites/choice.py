"""Rewrites of the vocoder's graph that change its speed and not its sound; the measured gains are in
`docs/decisions/graph-rewrites.md`."""

from __future__ import annotations

import os
from enum import StrEnum

from worker.machine import products_saturate_here


class Rewrite(StrEnum):
    """The available rewrites. `benchmarks/rewrites.py` measures each alone."""

    PACKED = "packed"
    """U8 by U8 convolutions as matrix products of U8 by S8, whose weights are packed once."""
    PLANAR = "planar"
    """Convolutions along time as convolutions over a plane one sample high, for which onnxruntime has faster code."""
    SINE = "sine"
    """Snake with onnxruntime's sine in an int8 generator whose statistics are given: a third of the polynomial's passes
    over the samples, and one that always runs in one thread."""
    SPECTRUM = "spectrum"
    """The source's STFT as a convolution: onnxruntime's STFT transforms frame after frame, in one thread."""
    SNAKE = "snake"
    """The sine in Snake as a polynomial: onnxruntime's sine is slow and always runs in one thread."""


MOST_CORES_FOR_SINE = 2
"""Cores up to which a sine in one thread takes no longer than a polynomial in all of them. With more cores a run that
is alone, such as each first sound, would wait for it."""


def default(machine_cores: int, saturates: bool) -> frozenset[Rewrite]:
    """The rewrites that are faster on a processor.

    Args:
        machine_cores: number of the machine's cores. Those that one process may use don't count: workers with
            different shares of the machine must make the same samples.
        saturates: products of U8 by S8 saturate, so U8 by U8 stays.
    """
    slower = {Rewrite.PACKED} if saturates else set()
    if machine_cores > MOST_CORES_FOR_SINE:
        slower.add(Rewrite.SINE)
    return frozenset(Rewrite) - slower


DEFAULT = default(os.cpu_count() or 1, products_saturate_here())
"""The rewrites that are faster on this processor."""
