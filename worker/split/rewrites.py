"""Rewrites of the vocoder's graph that change its speed and not its sound; what each gave is in
`docs/decisions/graph-rewrites.md`."""

from __future__ import annotations

from enum import StrEnum


class Rewrite(StrEnum):
    """One of them. `benchmarks/rewrites.py` measures each alone."""

    PLANAR = "planar"
    """Convolutions along time as convolutions over a plane one sample high, for which onnxruntime has better code."""
    SNAKE = "snake"
    """The sine in Snake as a polynomial: onnxruntime's takes as long as ten additions, in one thread whatever there
    are."""


DEFAULT = frozenset(Rewrite)
