"""The pace at which a segment is spoken."""

from __future__ import annotations

MIN_SPEED, MAX_SPEED = 0.25, 4.0
"""Engines take these paces; 1 is the voice's own."""


def segment_speed(requested: float, rate: float) -> float:
    """The request's speed times the rate that its markup asks for, within the paces that engines take.

    >>> segment_speed(2.0, 3.0)
    4.0
    """
    return min(max(requested * rate, MIN_SPEED), MAX_SPEED)
