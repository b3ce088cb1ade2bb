"""Rewrites of the vocoder's graph that change its speed and not its sound; what each gave is in
`docs/decisions/graph-rewrites.md`."""

from __future__ import annotations

from enum import StrEnum

from worker.signed_products import products_saturate_here


class Rewrite(StrEnum):
    """One of them. `benchmarks/rewrites.py` measures each alone."""

    PACKED = "packed"
    """Convolutions of U8 by U8 as products of matrices of U8 by S8, whose weights are packed once."""
    PLANAR = "planar"
    """Convolutions along time as convolutions over a plane one sample high, for which onnxruntime has better code."""
    SPECTRUM = "spectrum"
    """The source's STFT as a convolution: onnxruntime's transforms frame after frame, in one thread."""
    SNAKE = "snake"
    """The sine in Snake as a polynomial: onnxruntime's takes as long as ten additions, in one thread whatever there
    are."""


DEFAULT = frozenset(Rewrite) - (frozenset({Rewrite.PACKED}) if products_saturate_here() else frozenset())
"""Those that this processor is better off with: where U8 by S8 saturates, U8 by U8 stays."""
