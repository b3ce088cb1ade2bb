"""The usual speeds, through which `faster` and `slower` go."""

from __future__ import annotations

STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""Speeds as factors of the voice's own pace, ascending."""


def faster(speed: float) -> float:
    """The next higher usual speed; the same speed if there is none."""
    return next((step for step in STEPS if step > speed), speed)


def slower(speed: float) -> float:
    """The next lower usual speed; the same speed if there is none."""
    return next((step for step in reversed(STEPS) if step < speed), speed)
