"""Rewrites of the vocoder's graph that change its speed and not its sound; the measured gains are in
`docs/decisions/graph-rewrites.md`."""

from __future__ import annotations

from enum import StrEnum

from worker.machine.signed_products import products_saturate_here


class Rewrite(StrEnum):
    """The available rewrites. `benchmarks/rewrites.py` measures each alone."""

    PACKED = "packed"
    """U8 by U8 convolutions as matrix products of U8 by S8, whose weights are packed once."""
    PLANAR = "planar"
    """Convolutions along time as convolutions over a plane one sample high, for which onnxruntime has faster code."""
    SPECTRUM = "spectrum"
    """The source's STFT as a convolution: onnxruntime's STFT transforms frame after frame, in one thread."""
    SNAKE = "snake"
    """The sine in Snake as a polynomial: onnxruntime's sine takes as long as ten additions and always runs in one
    thread."""


DEFAULT = frozenset(Rewrite) - (frozenset({Rewrite.PACKED}) if products_saturate_here() else frozenset())
"""The rewrites that are faster on this processor: where U8 by S8 saturates, U8 by U8 stays."""
